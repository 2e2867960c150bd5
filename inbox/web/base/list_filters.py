"""The filter of an interrupt list: its URL, form and labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Self
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from inbox.queries.decisions.inbox_lists import FilterChoices
from inbox.rules.decisions.list_filters import InterruptFilter, ListState, Queue, Sort
from inbox.rules.presentations.reasons import reason_name
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.translate import translate

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
QUEUES = {
    Queue.ANY: gettext_noop("Team"),
    Queue.MINE: gettext_noop("Mine"),
    Queue.TEAM: gettext_noop("My team's"),
    Queue.OTHERS: gettext_noop("Others'"),
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
    "queue": gettext_noop("Queue"),
    "mine": gettext_noop("Mine"),
    "assigned": gettext_noop("Assigned to me"),
    "started": gettext_noop("Started by me"),
    "snoozed": gettext_noop("Snoozed"),
    "expiring": gettext_noop("Expiring"),
    "since": gettext_noop("From"),
    "until": gettext_noop("To"),
}


#: Conditions that are true or false, whose chips have no label.
_FLAGS = {"mine", "assigned", "started", "snoozed", "expiring"}


@dataclass(frozen=True)
class Chip:
    """One active filter, with the URL that removes it."""

    label: str  #: "" if the value says it all: "Claimed by me"
    value: str
    url: str


class Option(NamedTuple):
    value: str
    label: str
    is_chosen: bool


class Select(NamedTuple):
    """A drop-down of the filter form; equal ones have equal HTML."""

    name: str
    label: str
    options: tuple[Option, ...]

    @classmethod
    def of(cls, name: str, label: str, options: Iterable[tuple[str, str]], chosen: str) -> Self:
        """Return the drop-down of (value, label) pairs."""
        return cls(name, label, tuple(Option(*pair, pair[0] == chosen) for pair in options))


@dataclass(frozen=True)
class ListRequest:
    """The filter and the page that a list's URL requests."""

    filter: InterruptFilter
    ignored: Sequence[str]  #: the labels of invalid parameters
    after: str  #: the id that the page starts after; "" for the first page

    @property
    def url(self) -> str:
        return list_url(self.filter)

    @property
    def suffix(self) -> str:
        """The query for interrupt links, which keeps this list beside the interrupt."""
        return _with_query("", self.filter, self.after)

    @property
    def section(self) -> str:
        """The navigation entry that is current."""
        unfiltered = InterruptFilter(state=self.filter.kind)
        if self.filter == InterruptFilter(mine=True):
            return "claimed"
        if self.filter == InterruptFilter(assigned=True):
            return "assigned"
        if self.filter == InterruptFilter(snoozed=True):
            return "snoozed"
        if self.filter == InterruptFilter(expiring=True):
            return "expiring"
        return "decided" if unfiltered.is_closed else "pending"

    @property
    def title(self) -> str:
        titles = {
            "claimed": gettext("Claimed by me"),
            "assigned": gettext("Assigned to me"),
            "snoozed": gettext("Snoozed"),
            "expiring": gettext("Expiring soon"),
        }
        return titles.get(self.section, gettext(STATES[self.filter.state]))

    @property
    def order(self) -> str:
        return gettext(SORTS[self.filter.sort])

    def page_after(self, pk: UUID | str) -> str:
        """Return the URL of the page after this row, or of the first page for ""."""
        return _with_query(_path(self.filter), self.filter, str(pk))

    @property
    def chips(self) -> list[Chip]:
        """The active filters."""
        filters = self.filter
        texts = {
            "agent": filters.agent,
            "tool": filters.tool,
            "reason": translate(reason_name(filters.reason)) if filters.reason else "",
            "team": filters.team,
            "queue": gettext(QUEUES[filters.queue]) if filters.queue else "",
            "since": _date(filters.since),
            "until": _date(filters.until),
            "text": filters.text,
            "mine": self._mine if filters.mine else "",
            "assigned": gettext("Assigned to me") if filters.assigned else "",
            "started": gettext("Started by me") if filters.started else "",
            "snoozed": gettext("Snoozed") if filters.snoozed else "",
            "expiring": gettext("Expires in ten minutes") if filters.expiring else "",
        }
        if filters.state is not filters.kind:
            texts = {"state": gettext(STATES[filters.state]), **texts}
        return [
            Chip(
                label="" if name in _FLAGS else gettext(_LABELS[name]),
                value=escape_invisible(value),
                url=list_url(filters.without(name)),
            )
            for name, value in texts.items()
            if value
        ]

    @property
    def _mine(self) -> str:
        """Return what `mine` means in this list."""
        if self.filter.is_open:
            return gettext("Claimed by me")
        if self.filter.is_closed:
            return gettext("Decided by me")
        return gettext("Claimed or decided by me")


def parse_list_request(request: HttpRequest, *, state: ListState) -> ListRequest:
    """Parse a list's URL; invalid parameters are ignored and named."""
    filters, ignored = InterruptFilter.from_query(request.GET.dict(), state=state)
    return ListRequest(
        filters, [gettext(_LABELS[name]) for name in ignored], request.GET.get("after", "")
    )


def list_url(filters: InterruptFilter) -> str:
    """Return the canonical URL of a list, without default values."""
    return _with_query(_path(filters), filters, "")


def originating_filter(request: HttpRequest) -> InterruptFilter:
    """Return the filter of the list that the page was opened from (parameter `list`)."""
    sent = request.GET if request.method == "GET" else request.POST
    return InterruptFilter.from_text(sent.get("list", ""))


def has_redundant_parameters(request: HttpRequest, list_request: ListRequest) -> bool:
    """Return True if the query has empty or default fields that the canonical URL omits."""
    redundant = [name for name in ("state", "sort") if f"{name}=" not in list_request.url]
    sent = request.GET.dict()
    return not list_request.ignored and (
        "" in sent.values() or any(name in sent for name in redundant)
    )


def selects_of(choices: FilterChoices, filters: InterruptFilter) -> list[Select]:
    """Return the filter form's drop-downs; each includes the chosen value."""
    names = {"agent": choices.agents, "tool": choices.tools, "reason": choices.reasons}
    selects = [_select("state", _translated(STATES), filters.state)]
    for name, values in names.items():
        label = reason_label if name == "reason" else escape_invisible
        options = [("", gettext("Any")), *((value, label(value)) for value in values if value)]
        selects.append(_select(name, options, getattr(filters, name)))
    selects.append(_select("queue", _translated(QUEUES), filters.queue))
    if len(choices.teams) > 1 or filters.team:
        selects.append(_select("team", [("", gettext("Any")), *choices.teams], filters.team))
    sorts = [item for item in _translated(SORTS) if filters.is_open or item[0] != Sort.DUE]
    return [*selects, _select("sort", sorts, filters.sort)]


def _select(name: str, options: Iterable[tuple[str, str]], chosen: str) -> Select:
    pairs = [(str(value), label) for value, label in options]
    if chosen not in dict(pairs):
        pairs.append((chosen, escape_invisible(chosen)))
    return Select.of(name, gettext(_LABELS[name]), pairs, chosen)


def reason_label(reason: str) -> str:
    return escape_invisible(translate(reason_name(reason)))


def _date(day: date | None) -> str:
    return date_format(day, "SHORT_DATE_FORMAT") if day else ""


def _translated(
    texts: Mapping[ListState, str] | Mapping[Queue, str] | Mapping[Sort, str],
) -> list[tuple[str, str]]:
    return [(value.value, gettext(text)) for value, text in texts.items()]


def _path(filters: InterruptFilter) -> str:
    return reverse("decided" if filters.is_closed else "pending")


def _with_query(path: str, filters: InterruptFilter, after: str) -> str:
    parts = [filters.to_query(), urlencode({"after": after}) if after else ""]
    query = "&".join(part for part in parts if part)
    return f"{path}?{query}" if query else path
