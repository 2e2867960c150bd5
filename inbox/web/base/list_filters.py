"""The filter of a list: its address, its form, and what it says in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from inbox.queries.decisions.inbox_lists import FilterChoices
from inbox.rules.decisions.list_filters import InterruptFilter, ListState, Sort
from inbox.rules.text.safe_text import escape_invisible

STATES = {
    ListState.OPEN: gettext_noop("Pending"),
    ListState.DECIDED: gettext_noop("Decided"),
    ListState.CANCELLED: gettext_noop("Cancelled"),
    ListState.EXPIRED: gettext_noop("Expired"),
    ListState.ALL: gettext_noop("All requests"),
}
SORTS = {
    Sort.DUE: gettext_noop("Soonest to expire"),
    Sort.NEW: gettext_noop("Latest first"),
    Sort.OLD: gettext_noop("Oldest first"),
}
_LABELS = {
    "state": gettext_noop("State"),
    "agent": gettext_noop("Agent"),
    "tool": gettext_noop("Tool"),
    "reason": gettext_noop("Reason"),
    "team": gettext_noop("Team"),
    "q": gettext_noop("Search"),
    "text": gettext_noop("Search"),
    "sort": gettext_noop("Sort"),
    "mine": gettext_noop("Mine"),
    "expiring": gettext_noop("Expiring"),
}


@dataclass(frozen=True)
class Chip:
    """One thing that the list is narrowed to, and the address without it."""

    label: str
    value: str
    url: str


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class Select:
    """A drop-down of the filter form."""

    name: str
    label: str
    options: Sequence[Option]


@dataclass(frozen=True)
class Asked:
    """What the address of a list asks for."""

    filter: InterruptFilter
    ignored: Sequence[str]  #: parameters that make no sense, in words
    after: str  #: the id that the page starts after; "" for the first page

    @property
    def url(self) -> str:
        """The address of the whole list."""
        return list_url(self.filter)

    @property
    def query(self) -> str:
        return self.filter.to_query()

    @property
    def whole_query(self) -> str:
        return self.filter.to_full_query()

    @property
    def suffix(self) -> str:
        """What the address of an interrupt carries, so that the list beside it stays this one."""
        return _with_query("", self.filter, self.after)

    @property
    def section(self) -> str:
        """Which entry of the rail this is."""
        whole = InterruptFilter(state=self.filter.kind)
        if self.filter == InterruptFilter(mine=True):
            return "claimed"
        if self.filter == InterruptFilter(expiring=True):
            return "expiring"
        return "decided" if whole.is_closed else "pending"

    @property
    def title(self) -> str:
        named = {"claimed": gettext("Claimed by me"), "expiring": gettext("Expiring soon")}
        return named.get(self.section, gettext(STATES[self.filter.state]))

    @property
    def order(self) -> str:
        return gettext(SORTS[self.filter.sort])

    def page_after(self, pk: Any) -> str:
        """The address of the part of the list after this row, or of its beginning for ""."""
        return _with_query(_path(self.filter), self.filter, str(pk))

    @property
    def chips(self) -> list[Chip]:
        """One for each thing that can be taken away."""
        wanted = self.filter
        texts = {
            "agent": wanted.agent,
            "tool": wanted.tool,
            "reason": wanted.reason,
            "team": wanted.team,
            "mine": gettext("claimed or decided by me") if wanted.mine else "",
            "expiring": gettext("in the next ten minutes") if wanted.expiring else "",
            "text": wanted.text,
        }
        if wanted.state is not wanted.kind:
            texts = {"state": gettext(STATES[wanted.state]), **texts}
        return [
            Chip(
                label=gettext(_LABELS[name]),
                value=escape_invisible(value),
                url=list_url(wanted.without(name)),
            )
            for name, value in texts.items()
            if value
        ]


def asked_of(request: HttpRequest, *, state: ListState) -> Asked:
    """What this address asks for; nonsense in it is ignored, and named."""
    wanted, ignored = InterruptFilter.from_query(request.GET.dict(), state=state)
    return Asked(wanted, [gettext(_LABELS[name]) for name in ignored], request.GET.get("after", ""))


def list_url(wanted: InterruptFilter) -> str:
    """The one address of a list: whatever stands in it by default is left out."""
    return _with_query(_path(wanted), wanted, "")


def list_before(request: HttpRequest) -> InterruptFilter:
    """The list that a page was opened from; it comes along as a query in `list`."""
    sent = request.GET if request.method == "GET" else request.POST
    return InterruptFilter.from_text(sent.get("list", ""))


def is_spelled_out(request: HttpRequest, asked: Asked) -> bool:
    """Whether a form sent fields that the address of its list can do without."""
    needless = [name for name in ("state", "sort") if f"{name}=" not in asked.url]
    sent = request.GET.dict()
    return not asked.ignored and ("" in sent.values() or any(name in sent for name in needless))


def selects_of(choices: FilterChoices, wanted: InterruptFilter) -> list[Select]:
    """The drop-downs, with what there is to choose from; what is chosen is always among it."""
    names = {"agent": choices.agents, "tool": choices.tools, "reason": choices.reasons}
    found = [_select("state", _said(STATES), wanted.state)]
    for name, values in names.items():
        options = [("", gettext("Any")), *((value, escape_invisible(value)) for value in values)]
        found.append(_select(name, options, getattr(wanted, name)))
    if len(choices.teams) > 1 or wanted.team:
        found.append(_select("team", [("", gettext("Any")), *choices.teams], wanted.team))
    sorts = [item for item in _said(SORTS) if wanted.is_open or item[0] is not Sort.DUE]
    return [*found, _select("sort", sorts, wanted.sort)]


def _select(name: str, options: Any, chosen: str) -> Select:
    pairs = [(str(value), label) for value, label in options]
    if chosen not in dict(pairs):
        pairs.append((chosen, escape_invisible(chosen)))
    return Select(
        name,
        gettext(_LABELS[name]),
        [Option(value, label, value == chosen) for value, label in pairs],
    )


def _said(texts: Mapping[Any, str]) -> list[tuple[Any, str]]:
    return [(value, gettext(text)) for value, text in texts.items()]


def _path(wanted: InterruptFilter) -> str:
    return reverse("decided" if wanted.is_closed else "pending")


def _with_query(path: str, wanted: InterruptFilter, after: str) -> str:
    parts = [wanted.to_query(), urlencode({"after": after}) if after else ""]
    query = "&".join(part for part in parts if part)
    return f"{path}?{query}" if query else path
