"""
The program that draws one preview: a hostile file can only break this process.

It stands alone (`python -I preview_process.py image|pdf PATH PAGE`), has no access to settings or
the database, and prints a line of JSON and then a WebP picture.
"""

import io
import json
import resource
import sys
import warnings
from typing import Any

MAX_PIXELS = 60_000_000
MAX_SIDE = 1_600
MEMORY_BYTES = 1_500_000_000
CPU_SECONDS = 12


def main() -> None:
    """Draw what the arguments name; any error ends the process with a status other than 0."""
    kind, path, page = sys.argv[1], sys.argv[2], int(sys.argv[3])
    _limit()
    pages, picture = _draw_pdf(path, page) if kind == "pdf" else _draw_image(path, page)
    picture.thumbnail((MAX_SIDE, MAX_SIDE * 2))
    output = io.BytesIO()
    picture.save(output, "WEBP", quality=85)
    sys.stdout.buffer.write(json.dumps({"pages": pages}).encode() + b"\n" + output.getvalue())


def _limit() -> None:
    for limit, value in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def _draw_image(path: str, page: int) -> tuple[int, Any]:
    """Return the first frame, upright; nothing is decoded before its size is known."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - after the limits

    if page != 1:
        raise ValueError(page)
    warnings.simplefilter("error")
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    image = Image.open(path, formats=["PNG", "JPEG", "GIF", "WEBP"])
    if image.width * image.height > MAX_PIXELS:
        raise ValueError(image.size)
    image.draft("RGB", (MAX_SIDE, MAX_SIDE))
    upright = ImageOps.exif_transpose(image)
    has_alpha = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
    return 1, upright.convert("RGBA" if has_alpha else "RGB")


def _draw_pdf(path: str, page: int) -> tuple[int, Any]:
    """Return one page; forms and scripts are never loaded."""
    import pypdfium2  # noqa: PLC0415 - after the limits

    document: Any = pypdfium2.PdfDocument(path)  # type: ignore[no-untyped-call]
    drawn = document[page - 1]
    width, height = drawn.get_size()
    scale = min(MAX_SIDE / max(width, 1), MAX_SIDE * 2 / max(height, 1), 3)
    bitmap = drawn.render(scale=scale, may_draw_forms=False)
    return len(document), bitmap.to_pil().convert("RGB")


if __name__ == "__main__":
    main()
