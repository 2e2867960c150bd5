"""
`make texts`: collect what pages say, and keep the catalogs of other languages in step.

Babel does what GNU gettext would: nobody has to install anything beside the requirements.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT: Final = Path(__file__).resolve().parents[2]
LOCALE: Final = ROOT / "locale"
_KEYWORDS: Final = {**DEFAULT_KEYWORDS, "gettext_noop": None, "TranslatableMessage": None}
_WIDTH: Final = 100


def sources() -> list[Path]:
    """Every file with texts for people."""
    code = [path for path in (ROOT / "inbox").rglob("*.py") if "migrations" not in path.parts]
    verifier = ROOT / "tools/audit_verifier.py"
    return sorted([*code, verifier, *(ROOT / "templates").rglob("*.html")])


def extracted() -> Catalog:
    """Every text, with the files that it is in."""
    catalog = Catalog(domain="django", project="Signoff", fuzzy=False)
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for _, message, comments, context in _texts_in(path):
            singular = message[0] if isinstance(message, tuple) else message
            if singular:
                places = [(name, None)]
                catalog.add(message, locations=places, auto_comments=comments, context=context)
    return catalog


def po_path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> Catalog:
    with po_path(language).open("rb") as file:
        return read_po(file, locale=language, domain="django")


def compiled(catalog: Catalog) -> bytes:
    """The catalog as the product reads it."""
    buffer = io.BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def messages_of(catalog: Catalog) -> list[Message]:
    """The messages without the header."""
    return [message for message in catalog if message.id]


def _texts_in(path: Path) -> Iterator[tuple[int, Any, list[str], str | None]]:
    text = path.read_text()
    if path.suffix == ".html":
        # What is not to be translated comes out as X, indented as the markup is.
        lines = templatize(text, origin=str(path)).splitlines()
        text = "\n".join(line.strip() for line in lines)
    return extract("python", io.BytesIO(text.encode()), keywords=_KEYWORDS)


def _update(language: str) -> int:
    """Bring a catalog up to date; return how many texts still have no words in its language."""
    catalog, template = read(language), extracted()
    template.creation_date = catalog.creation_date
    catalog.update(template, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    catalog.fuzzy = False
    buffer = io.BytesIO()
    write_po(buffer, catalog, width=_WIDTH, sort_output=True, include_lineno=False)
    po_path(language).write_bytes(buffer.getvalue())
    po_path(language).with_suffix(".mo").write_bytes(compiled(catalog))
    missing = [message for message in messages_of(catalog) if not all(_strings(message))]
    for message in missing:
        print(f"{language}: no words for {message.id!r}")
    return len(missing)


def _strings(message: Message) -> tuple[str, ...]:
    return message.string if isinstance(message.string, tuple) else (message.string,)


if __name__ == "__main__":
    languages = sorted(path.name for path in LOCALE.iterdir())
    sys.exit(1 if sum(_update(language) for language in languages) else 0)
