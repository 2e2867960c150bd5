"""Small files made by code, for tests of uploads and previews."""

import io
import zipfile
import zlib


def png(width: int = 8, height: int = 8) -> bytes:
    """Return a picture of one colour."""
    from PIL import Image

    output = io.BytesIO()
    Image.new("RGB", (width, height), (20, 120, 200)).save(output, "PNG")
    return output.getvalue()


def pdf(extra: bytes = b"") -> bytes:
    """Return a PDF file of one page; `extra` are members of its catalog, such as a script."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R " + extra + b" >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        b"<< /Length 44 >>\nstream\nBT /F1 18 Tf 20 40 Td (Invoice 17) Tj ET     \nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    return (
        body
        + b"xref\n0 %d\n0000000000 65535 f \n" % count
        + table
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, len(body))
    )


def png_bomb(side: int = 30_000) -> bytes:
    """Return a small PNG file that says that it is huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + checksum

    header = side.to_bytes(4, "big") * 2 + b"\x08\x00\x00\x00\x00"
    rows = zlib.compress(b"\0" * (side + 1) * 64, 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


def zip_file(name: str = "a.txt", content: bytes = b"text") -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return output.getvalue()


HTML = b"<!doctype html><html><body><script>document.title='executed'</script></body></html>"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=\'executed\'">'
    b"<script>document.title='executed'</script></svg>"
)
