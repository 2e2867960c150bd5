"""A program of somebody who has installed the Python client, and nothing else."""

import json

from signoff_client import Denied, Signoff

signoff = Signoff()
calls = []


@signoff.requires_approval(effect="once", may_edit=True)
def refund(charge: str, amount: int) -> str:
    calls.append([charge, amount])
    return f"refunded {amount}"


def main() -> None:
    result = refund("ch_17", 4750)
    region = signoff.ask("Which region?", schema={"enum": ["eu", "us"]}, wait="1m")
    try:
        refund("ch_18", 1)
    except Denied as denied:
        reason = denied.reason
    print(json.dumps([result, region, reason, calls]))


if __name__ == "__main__":
    main()
