"""A program of somebody who has installed the Python client with its extra for asyncio."""

import asyncio

from signoff_client.aio import AsyncSignoff


async def main() -> None:
    async with AsyncSignoff() as signoff:

        @signoff.requires_approval
        async def refund(charge: str, amount: int) -> str:
            return f"refunded {charge} {amount}"

        print(await refund("ch_17", 4750))


if __name__ == "__main__":
    asyncio.run(main())
