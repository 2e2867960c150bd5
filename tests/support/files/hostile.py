"""Sixty hostile files: polyglots, bombs, scripts, wrong types and names."""

import gzip
from typing import NamedTuple

from tests.support.files.samples import HTML, SVG, pdf, png, png_bomb, zip_file

SCRIPT = b"<script>document.title='executed'</script>"
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,"
GIF += b"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 "
JS = b"document.title='executed'"
OPEN_ACTION = b"/OpenAction << /S /JavaScript /JS (app.alert('executed')) >>"


class Hostile(NamedTuple):
    """A file that must not be executed, and must be served as harmless."""

    label: str
    name: str
    content: bytes


_NAMES = (
    "../../etc/passwd",
    "..\\..\\windows\\system32\\a.png",
    "C:\\boot.ini",
    "a\x00.png",
    "a\r\nSet-Cookie: x=1.png",
    "photo\u202egpj.exe",
    "\u2066a\u2069.png",
    "a\u200b\u200d.png",
    "CON",
    "nul.png",
    ".htaccess",
    "   ",
    "a" * 400 + ".png",
    'x"; filename="y.html',
    "a/b/c/d.png",
    "%2e%2e%2fpasswd.png",
    "<img src=x onerror=document.title='executed'>.png",
    "\U0001f4a9.png",
    "a\ud800.png",
    "file;type=text-html.png",
)

HOSTILE = [
    Hostile("html", "page.html", HTML),
    Hostile("html as png", "photo.png", HTML),
    Hostile("html as pdf", "a.pdf", HTML),
    Hostile("html after space", "a.txt", b" \n\t" + HTML),
    Hostile("html after mark", "a.txt", b"\xef\xbb\xbf" + HTML),
    Hostile("html in utf-16", "a.html", HTML.decode().encode("utf-16")),
    Hostile(
        "html in utf-7", "a.html", b"+ADw-script+AD4-document.title='executed'+ADw-/script+AD4-"
    ),
    Hostile("html after comment", "a.txt", b"<!-- x -->" + HTML),
    Hostile("script alone", "a.txt", SCRIPT),
    Hostile(
        "xhtml", "a.xhtml", b'<html xmlns="http://www.w3.org/1999/xhtml">' + SCRIPT + b"</html>"
    ),
    Hostile("svg", "a.svg", SVG),
    Hostile("svg as png", "a.png", SVG),
    Hostile("svg with declaration", "a.xml", b'<?xml version="1.0"?>' + SVG),
    Hostile("svg in gzip", "a.svgz", gzip.compress(SVG)),
    Hostile("xml with style", "a.xml", b'<?xml-stylesheet href="javascript:alert(1)"?><a/>'),
    Hostile("xml entities", "a.xml", b'<!DOCTYPE a [<!ENTITY b "' + b"x" * 999 + b'">]><a>&b;</a>'),
    Hostile("javascript", "a.js", JS),
    Hostile("module", "a.mjs", b"export default 1;" + JS),
    Hostile("stylesheet", "a.css", b"body{background:url(javascript:alert(1))}"),
    Hostile("shortcut", "a.url", b"[InternetShortcut]\nURL=file:///etc/passwd\n"),
    Hostile("mhtml", "a.mhtml", b"MIME-Version: 1.0\nContent-Type: text/html\n\n" + HTML),
    Hostile("calendar", "a.ics", b"BEGIN:VCALENDAR\nURL:javascript:alert(1)\nEND:VCALENDAR\n"),
    Hostile("formulas", "a.csv", b'=cmd|"/c calc"!A1,2\r\n@SUM(1),+1\r\n'),
    Hostile("html in a table", "a.csv", SCRIPT + b",2\r\n"),
    Hostile("one long row", "a.csv", b"x," * 200_000),
    Hostile("quote without end", "a.csv", b'"' + b"x" * 300_000),
    Hostile("pdf with script", "a.pdf", pdf(OPEN_ACTION)),
    Hostile("pdf and html", "a.html", HTML + b"\n" + pdf()),
    Hostile("pdf without pages", "a.pdf", b"%PDF-1.7\ntrailer << >>"),
    Hostile("cut pdf", "a.pdf", pdf()[:200]),
    Hostile("gif and script", "a.gif", GIF + b"=1;" + JS),
    Hostile("gif named html", "a.html", GIF + SCRIPT),
    Hostile("png and html", "a.html", png() + HTML),
    Hostile("png and zip", "a.zip", png() + zip_file("a.html", HTML)),
    Hostile("jpeg and html", "a.htm", JPEG + HTML),
    Hostile("png bomb", "a.png", png_bomb()),
    Hostile("cut png", "a.png", png(64)[:60]),
    Hostile("webp of nothing", "a.webp", WEBP),
    Hostile("zip bomb", "a.zip", zip_file("a", b"\0" * 20_000_000)),
    Hostile("program", "invoice.pdf.exe", b"MZ\x90\x00" + b"\x00" * 100),
    *(Hostile(f"name {number}", name, png(3)) for number, name in enumerate(_NAMES)),
]
