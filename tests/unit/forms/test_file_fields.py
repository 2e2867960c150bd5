"""Which values of agents a form shows as files."""

from uuid import UUID

import pytest

from inbox.forms.file_fields import FormFiles
from inbox.forms.form import build_form
from inbox.rules.files.references import FileReference

STORED = FileReference(
    UUID("0199a0a0-0000-7000-8000-000000000001"), "a.pdf", "application/pdf", 5, "a" * 64
)
SITE = "https://signoff.example"
ADDRESS = STORED.address(SITE)
FILES = FormFiles(
    find=lambda file_id: STORED if file_id == STORED.id else None,
    read=lambda file_id: b"",
    upload_url="/upload",
    site="",
    public_site=SITE,
    limit_bytes=1_000,
)


def kind_of(value):
    kind = "object" if isinstance(value, dict) else "string"
    schema = {"type": kind, "contentMediaType": "application/pdf"}
    form = build_form(
        schema={"type": "object", "properties": {"file": schema}},
        name="args",
        value={"file": value},
        files=FILES,
    )
    return form.root.fields[0].kind


@pytest.mark.parametrize(
    "value",
    [
        STORED.address(),
        ADDRESS,
        ADDRESS.replace("#", "?expires=1&signature=x#"),
        STORED.as_json(ADDRESS),
        {"name": "a.pdf", "url": ADDRESS},
    ],
    ids=["path", "address", "signed link", "reference", "part of a reference"],
)
def test_stored_file_of_a_value_is_shown_in_its_place(value):
    assert kind_of(value) == "file"


@pytest.mark.parametrize(
    "value",
    [
        STORED.address("https://evil.example"),
        ADDRESS.replace("a" * 64, "b" * 64),
        STORED.as_json(ADDRESS) | {"name": "other.pdf"},
        STORED.as_json(ADDRESS) | {"amount": 1_000_000},
    ],
    ids=["other site", "other digest", "other name", "further member"],
)
def test_value_that_says_more_than_its_file_has_a_field(value):
    assert kind_of(value) != "file"
