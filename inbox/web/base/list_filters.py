"""The filter of an interrupt list: its URL, form and labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

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
    """One active filter, with the URL that removes it."""

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
        if self.filter == InterruptFilter(expiring=True):
            return "expiring"
        return "decided" if unfiltered.is_closed else "pending"

    @property
    def title(self) -> str:
        titles = {"claimed": gettext("Claimed by me"), "expiring": gettext("Expiring soon")}
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
            "reason": filters.reason,
            "team": filters.team,
            "mine": gettext("claimed or decided by me") if filters.mine else "",
            "expiring": gettext("in the next ten minutes") if filters.expiring else "",
            "text": filters.text,
        }
        if filters.state is not filters.kind:
            texts = {"state": gettext(STATES[filters.state]), **texts}
        return [
            Chip(
                label=gettext(_LABELS[name]),
                value=escape_invisible(value),
                url=list_url(filters.without(name)),
            )
            for name, value in texts.items()
            if value
        ]


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
        options = [("", gettext("Any")), *((value, escape_invisible(value)) for value in values)]
        selects.append(_select(name, options, getattr(filters, name)))
    if len(choices.teams) > 1 or filters.team:
        selects.append(_select("team", [("", gettext("Any")), *choices.teams], filters.team))
    sorts = [item for item in _translated(SORTS) if filters.is_open or item[0] != Sort.DUE]
    return [*selects, _select("sort", sorts, filters.sort)]


def _select(name: str, options: Iterable[tuple[str, str]], chosen: str) -> Select:
    pairs = [(str(value), label) for value, label in options]
    if chosen not in dict(pairs):
        pairs.append((chosen, escape_invisible(chosen)))
    return Select(
        name,
        gettext(_LABELS[name]),
        [Option(value, label, value == chosen) for value, label in pairs],
    )


def _translated(texts: Mapping[ListState, str] | Mapping[Sort, str]) -> list[tuple[str, str]]:
    return [(value.value, gettext(text)) for value, text in texts.items()]


def _path(filters: InterruptFilter) -> str:
    return reverse("decided" if filters.is_closed else "pending")


def _with_query(path: str, filters: InterruptFilter, after: str) -> str:
    parts = [filters.to_query(), urlencode({"after": after}) if after else ""]
    query = "&".join(part for part in parts if part)
    return f"{path}?{query}" if query else path
