"""
The gallery: all components on one page, from the product's own templates and style sheets.

It needs no server and no database, and has no address in the product.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django import forms
from django.template import engines
from django.test.utils import override_settings
from playwright.sync_api import Browser, Page, Route

from inbox.rules.decisions.change_summary import summary_of
from inbox.rules.presentations.changed_title import mark_changes
from inbox.web.base.charts import SERIES, Bucket, column_chart
from inbox.web.base.list_filters import Chip, Select
from inbox.web.base.masks import MaskedSet
from inbox.web.decisions.change_views import ChangeView
from inbox.web.decisions.list_rows import RING, Face, Fold, Row

ROOT = Path(__file__).parents[3]
TEMPLATE = Path(__file__).with_name("gallery.html")
ADDRESS = "http://gallery.test"
_NOW = datetime(2026, 11, 27, 14, 4, tzinfo=UTC)
_ID = UUID(int=1)
_AMOUNT_CHANGE = summary_of({"amount": 148}, {"amount": 112})
_CHANGES = summary_of({"amount": 310, "note": "x" * 200}, {"amount": 31, "note": "y" * 200})


class _Form(forms.Form):
    name = forms.CharField()
    code = forms.CharField()

    def clean(self) -> None:
        raise forms.ValidationError("That code is wrong or has expired.")


def gallery_html() -> str:
    """Return the page; its style sheets have their own names."""
    storage = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(STORAGES={"staticfiles": storage}):
        page = engines["django"].from_string(TEMPLATE.read_text())
        return str(page.render(_context()))


@contextmanager
def open_gallery(browser: Browser, **options: Any) -> Iterator[Page]:
    """Show the gallery in a window of its own; nothing leaves the machine."""
    html = gallery_html()

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ADDRESS)
        if path == "/":
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        elif (file := ROOT / path.lstrip("/")).is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404)

    context = browser.new_context(**options)
    page = context.new_page()
    page.route("**/*", answer)
    page.goto(f"{ADDRESS}/")
    yield page
    context.close()


def _context() -> dict[str, Any]:
    form = _Form({"name": "Alice"})
    rows = _rows()
    return {
        "levels": ["btn-primary", "btn-ok", "btn-bad", "", "btn-quiet"],
        "tones": ["ok", "bad", "warn", "me"],
        "banners": ["", "banner-warn", "banner-bad", "banner-ok"],
        "faces": range(1, 7),
        "rows": rows,
        "fold": Fold(_ID, rows[:2], "1 of 3 decided"),
        "ignored": ["colour"],
        "chips": [Chip("Agent", "billing", "#g-rows"), Chip("", "Assigned to me", "#g-rows")],
        "clear_url": "#g-rows",
        "page": _page(),
        "facts": [
            SimpleNamespace(label="Amount", text="€31.00", look="text"),
            SimpleNamespace(label="State", text="Overdue", look="badge", tone="warn"),
            SimpleNamespace(label="Query", text="select 1", look="code"),
        ],
        "changes": _CHANGES,
        "differences": [
            ChangeView("amount", "changed", [("del", "310"), ("ins", "31")]),
            ChangeView("note", "added", [("", "Thank "), ("ins", "you")]),
        ],
        "masked_set": MaskedSet("arguments", "Arguments", "#", True, ["password"]),
        "now": _NOW,
        "call": SimpleNamespace(
            id=1,
            proposed_at=_NOW,
            tone="ok",
            verdict="Approved with changes",
            icon="circle-check",
            url="#g-table",
            title="Refund 148.00 EUR to Dana Whitfield",
            changes=_CHANGES,
            agent="billing",
            faces=[(2, "Dana Whitfield")],
            by="Dana Whitfield",
            decision_time="4 min",
            is_bad=False,
            result="Refunded",
        ),
        "chart": column_chart(
            [
                Bucket(f"{day} Nov", {"rule": day, "edited": 2, "rejected": day % 3, "expired": 1})
                for day in range(1, 15)
            ]
        ),
        "series": [*SERIES, "denied"],
        "form": form,
        "problems": {"team": "Choose a team.", "": "The agent did not answer."},
        "teams": [SimpleNamespace(slug="demo", name="Demo")],
        "select": Select.of("agent", "Agent", [("", "Any"), ("billing", "billing")], "billing"),
    }


def _rows() -> list[Row]:
    due = Row(
        pk=_ID,
        run_id=_ID,
        url="#g-rows",
        title="Refund €148.00 to Dana Whitfield",
        title_parts=mark_changes("Refund €148.00 to Dana Whitfield", _AMOUNT_CHANGE).parts,
        agent="billing",
        message="The customer keeps the third chair.",
        at=_NOW + timedelta(hours=2),
        time_format="left",
        outcome="",
        changes=summary_of({}, {}),
        state="Pending",
        icon=RING,
        tone="quiet",
        due="warn",
        progress="",
        approvals="1 of 2",
        approved=1,
        people_needed=2,
        is_endorsed=False,
        claimed_by="",
        is_mine=False,
        is_assigned=False,
        similar="",
        similar_url="",
        faces=(Face(2, "Dana Whitfield", "Approved by Dana"),),
        can_pick=True,
        is_open=True,
        is_seen=False,
        is_current=False,
        thread_title="",
        risk="",
        irreversible="",
    )
    return [
        due,
        replace(due, pk=UUID(int=2), due="bad", is_current=True, is_seen=True, risk="High risk"),
        replace(due, pk=UUID(int=3), is_seen=True, similar="2 similar", similar_url="#g-rows"),
        replace(
            due,
            pk=UUID(int=4),
            is_open=False,
            can_pick=False,
            time_format="age",
            outcome="Approved",
            tone="ok",
            icon="circle-check",
            changes=_CHANGES,
        ),
    ]


def _page() -> SimpleNamespace:
    """Return what the templates of a request read."""
    facts = SimpleNamespace(
        severity_label="High",
        severity_tone="bad",
        reversibility_label="Cannot be undone",
        risk=SimpleNamespace(is_reversible=False),
        step_label="2 of 3",
    )
    open_slot = SimpleNamespace(person="", who="One reviewer")
    filled = SimpleNamespace(
        person="Dana Whitfield",
        user_id=2,
        at=_NOW,
        answer="",
        amount="€112.00",
        names="finance",
        who="",
    )
    return SimpleNamespace(
        facts=facts,
        deadline=_NOW + timedelta(hours=2),
        urgency="warn",
        findings=[1],
        interrupt=SimpleNamespace(
            pk=_ID,
            tool="refund_payment",
            run=SimpleNamespace(started_by="Alice"),
            created_at=_NOW,
        ),
        slots=[filled, open_slot],
        filled_count=1,
        form=SimpleNamespace(),
        is_quorum_possible=False,
        has_endorsed=True,
    )
