"""The facts of a request as its page shows them: presentation, values to read and to edit, risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from django.conf import settings
from django.urls import reverse

from inbox.forms.values import ABSENT, is_same_json, name_part
from inbox.queries.agents.tool_presentations import declared_body
from inbox.rules.presentations.code import DiffView, compare_texts
from inbox.rules.presentations.metadata_values import Risk, metadata_values, risk_of
from inbox.rules.presentations.recipients import outside_addresses
from inbox.rules.presentations.registry import Presentation, SpecialPresentation, Subject, choose
from inbox.rules.presentations.values import (
    MAX_PARTS,
    Look,
    ValueView,
    later_view,
    rows_from,
    shown_parts,
    view_of,
    with_unit,
)
from inbox.rules.presentations.vocabulary import (
    HINT_KEYWORD,
    Author,
    DeclaredFact,
    Present,
    ValueHint,
    hints_from_outside,
    hints_of,
    present_of,
)
from inbox.rules.runs.proposals import langgraph_value
from inbox.rules.schema.schema_walk import resolve_reference
from inbox.rules.schema.schemas import member_schema
from inbox.rules.schema.secrets import MASK, NAMES, is_secret_name, pointer
from inbox.rules.text.safe_text import escape_invisible, is_long
from inbox.web.presentations.risk_labels import (
    reversibility_label,
    severity_label,
    severity_tone,
    step_label,
)

if TYPE_CHECKING:
    from inbox.forms.form_nodes import Node
    from inbox.models import Interrupt
    from inbox.web.decisions.decision_form import DecisionForm

#: The name of the hidden fields that list the values which are being edited.
EDITING = "editing"
#: In `editing` for all values.
ALL_VALUES = "*"
#: A longer text is read in its field, which is folded.
MAX_READ_CHARACTERS = 100_000
#: After that many values the page loads the objects, lists and long texts that follow on demand.
MAX_SHOWN = 300
#: Further fields of objects and lists are loaded on demand while their value is only read.
MAX_HIDDEN_FIELDS = 60
#: Of a wizard with more steps only the number is shown.
MAX_SHOWN_STEPS = 12


@dataclass(frozen=True)
class Slot:
    """One value of a request: to read, and with a form node to edit."""

    view: ValueView
    node: Node | None = None
    is_editing: bool = False
    before: ValueView | None = None  #: the proposed value, of a value that was changed
    fold_ids: Sequence[str] = ()  #: of fields that must be opened before approval
    outside: Sequence[str] = ()  #: addresses outside of the company
    real_name: str = ""  #: of an argument that the team has given another label
    is_quiet: bool = False  #: another value shows it; only its field may appear
    is_field_later: bool = False  #: its field is loaded on demand

    @property
    def name(self) -> str:
        return self.view.name

    @property
    def is_folded(self) -> bool:
        return bool(self.fold_ids) and not self.is_field_only

    @property
    def is_field_only(self) -> bool:
        """True for a text that is too long to stand on the page twice, to read and in its field."""
        return self.node is not None and len(self.view.text) > MAX_READ_CHARACTERS


@dataclass(frozen=True)
class FactGroup:
    """Facts under a title, which may be empty."""

    title: str
    facts: Sequence[ValueView]


@dataclass(frozen=True)
class RequestFacts:
    """The values of an agent that the page of a request shows, in the order of reading."""

    form: DecisionForm
    declared_for_tool: Mapping[str, Any] = field(default_factory=dict)  #: by the team
    approved: Any = ABSENT  #: the arguments of a decided call
    has_fields: bool = True  #: whether the page has the form's fields

    @property
    def is_remote(self) -> bool:
        """True if the words beside the values come from a remote agent or a program."""
        return self.author != Author.OPERATOR

    @property
    def author(self) -> Author:
        return self.form.detail.interrupt.author

    @cached_property
    def present(self) -> Present:
        """The presentation that the agent declares, masked."""
        metadata = self.form.detail.agui_interrupt.get("metadata")
        return present_of({"metadata": NAMES.masked(metadata)})

    @cached_property
    def risk(self) -> Risk:
        return risk_of(self.form.detail.agui_interrupt, self.present)

    @property
    def severity_tone(self) -> str:
        return severity_tone(self.risk.severity)

    @property
    def severity_label(self) -> str:
        return severity_label(self.risk.severity or "", self.author)

    @property
    def reversibility_label(self) -> str:
        return reversibility_label(self.risk.is_reversible, self.author)

    @cached_property
    def presentation(self) -> Presentation:
        interrupt = self.form.detail.interrupt
        declared = str(self.declared_for_tool.get("kind") or self.present.kind)
        return choose(
            Subject(
                values=self._shown_values or self._metadata or self._facts_as_values,
                tool=interrupt.tool,
                reason=interrupt.reason,
                kind=str(langgraph_value(self.form.detail.agui_interrupt).get("kind") or ""),
                declared=declared,
                is_step=self.present.step is not None and not self.is_remote,
                roles=_roles(self._hints),
            )
        )

    @property
    def template(self) -> str:
        return f"decisions/presentations/kinds/{self.presentation.name}.html"

    @property
    def steps(self) -> list[tuple[int, str]]:
        """The steps of a wizard up to 12, each with "done", "now" or "next"; else none."""
        number, total = self.present.step or (0, 0)
        if not 0 < number <= total <= MAX_SHOWN_STEPS:
            return []
        states = ["done"] * (number - 1) + ["now"] + ["next"] * (total - number)
        return [*enumerate(states, start=1)]

    @property
    def step_label(self) -> str:
        return step_label(self.present.step, self.author)

    @cached_property
    def slots(self) -> list[Slot]:
        """The arguments, or the metadata of a request without any; those of roles first."""
        return [*self.roles.values(), *self.others]

    @cached_property
    def roles(self) -> Mapping[str, Slot]:
        """The slots of the presentation by role."""
        slots = {slot.name: slot for slot in self._all_slots}
        names = self.presentation.roles
        roles = {role: slots[name] for role, name in names.items() if name in slots}
        if _has_currency(roles.get("amount"), roles.get("currency")):
            roles["currency"] = replace(roles["currency"], is_quiet=True)
        return roles

    @cached_property
    def others(self) -> list[Slot]:
        """The slots without a role."""
        names = set(self.presentation.roles.values())
        return [slot for slot in self._all_slots if slot.name not in names]

    @property
    def has_values(self) -> bool:
        return bool(self._all_slots)

    @property
    def is_special(self) -> bool:
        """True for a presentation that shows more than the values."""
        return isinstance(self.presentation.name, SpecialPresentation)

    @property
    def is_from_metadata(self) -> bool:
        """True if the values are no arguments: nothing executes them by themselves."""
        return not self._shown_values

    @cached_property
    def unslotted_nodes(self) -> list[Node]:
        """The fields of arguments that the agent left out."""
        form = self.form.arguments_form
        displayed_ids = {id(node) for node in self._nodes.values()}
        return [node for node in form.root.fields if id(node) not in displayed_ids] if form else []

    @property
    def is_editing_rest(self) -> bool:
        """True if the fields that belong to no shown value are visible."""
        form = self.form.arguments_form
        if self.is_editing_all or form is None:
            return self.is_editing_all
        rows = [row.node for row in form.root.rows]
        return any(
            child.problems or child.text != child.initial_text
            for node in (*self.unslotted_nodes, *rows)
            for child in node.walk()
        )

    @property
    def is_editing_all(self) -> bool:
        return ALL_VALUES in self._editing

    @property
    def is_field_form(self) -> bool:
        """True for a form without members, or with too many of them to read one by one."""
        form = self.form.arguments_form
        return form is not None and form.tab == "form" and not self.is_read_view

    @property
    def is_read_view(self) -> bool:
        """False if the values cannot be shown one by one: a form without members, or JSON."""
        form = self.form.arguments_form
        is_few = len(self._shown_values) <= MAX_PARTS
        return form is None or (is_few and form.tab == "form" and form.root.kind == "group")

    @cached_property
    def diff(self) -> DiffView | None:
        """The line diff of a code change that has the text before and after."""
        before, after = self.roles.get("before"), self.roles.get("after")
        if not (before and after) or self.presentation.name != "code_change":
            return None
        return compare_texts(before.view.text, after.view.text)

    @cached_property
    def groups(self) -> list[FactGroup]:
        """The facts that the agent says beside the values."""
        facts = [] if self.is_from_metadata else self._metadata_views
        if not self._has_facts_as_values:
            facts += [fact_view(fact) for fact in self.present.facts]
        facts += self._views("others", self.present.others, {})
        if self.is_remote and self.present.title:
            facts.append(view_of("title", self.present.title))
        groups = [FactGroup("", facts)] if facts else []
        return groups + [
            FactGroup(escape_invisible(section.title), [fact_view(f) for f in section.facts])
            for section in self.present.sections
        ]

    @property
    def summary(self) -> str:
        return escape_invisible(self.present.summary)

    @cached_property
    def _metadata(self) -> Mapping[str, Any]:
        return metadata_values(self.form.detail.agui_interrupt, self.form.proposal)

    @cached_property
    def _facts_as_values(self) -> Mapping[str, Any]:
        """The facts of a local author whose question has no values, by label, as if they were."""
        if self.is_remote or self._shown_values or self._metadata:
            return {}
        return {fact.label: fact.value for fact in self.present.facts}

    @property
    def _has_facts_as_values(self) -> bool:
        return bool(self._facts_as_values and self.presentation.roles)

    @property
    def _metadata_views(self) -> list[ValueView]:
        return self._views("metadata", self._metadata, {})

    @cached_property
    def _hints(self) -> Mapping[str, ValueHint]:
        """The hints of the author, as far as they are followed, and those of the team."""
        authors = _author_hints(self.author, self.present, self._schemas)
        return {**authors, **self._team_hints}

    @cached_property
    def _team_hints(self) -> Mapping[str, ValueHint]:
        return hints_of(self.declared_for_tool.get("values"))

    @cached_property
    def _shown_values(self) -> Mapping[str, Any]:
        """The arguments with their secrets masked; those that were approved, if somebody did."""
        return self._proposed if self.approved is ABSENT else self._masked(self.approved)

    @cached_property
    def _proposed(self) -> Mapping[str, Any]:
        values = self.form.masked_values
        return values if isinstance(values, Mapping) else {}

    @cached_property
    def _original(self) -> Mapping[str, Any]:
        """The values before the changes of people, also of those who have approved so far."""
        values = self.form.original_values
        return self._proposed if values is self.form.proposed_values else self._masked(values)

    def _masked(self, values: Any) -> Mapping[str, Any]:
        masked: Mapping[str, Any] = (
            self.form.secrets.masked(values) if isinstance(values, Mapping) else {}
        )
        return masked

    @cached_property
    def _all_slots(self) -> list[Slot]:
        values = self._shown_values
        if self._has_facts_as_values:
            by_label = {fact.label: fact_view(fact) for fact in self.present.facts}
            return [Slot(replace(view, name=label)) for label, view in by_label.items()]
        if not values:
            hinted = self._views("metadata", self._metadata, self._team_hints)
            return [
                Slot(view, real_name=self._real_name(view.name))
                for view in self._with_currency(hinted)
            ]
        if len(values) > MAX_PARTS:
            return [Slot(view_of("arguments", dict(values)))]
        views = self._views("values", values, self._hints)
        slots = [
            self._slot(view, self._original.get(view.name, ABSENT), values[view.name])
            for view in self._with_currency(views)
        ]
        return _with_later_fields(slots)

    def _slot(self, view: ValueView, proposed: Any, value: Any) -> Slot:
        node = self._nodes.get(view.name)
        before = None
        if proposed is not ABSENT and not is_same_json(proposed, value):
            at, hint = self._address("proposed", view.name), self._hints.get(view.name)
            before = (
                later_view(view.name, proposed, hint, at=at)
                if view.look is Look.LATER
                else with_unit(view_of(view.name, proposed, hint, at=at), self._unit_before(view))
            )
        is_address = self.presentation.name == "message" and view.name in {
            self.presentation.roles.get(role) for role in ("to", "cc", "bcc")
        }
        return Slot(
            view=view,
            node=node,
            is_editing=node is not None and self._is_editing(node, view.name),
            before=before,
            fold_ids=[child.id for child in node.walk() if child.is_collapsible] if node else (),
            outside=outside_addresses(value, settings.COMPANY_DOMAINS) if is_address else (),
            real_name=self._real_name(view.name),
        )

    def _unit_before(self, view: ValueView) -> str:
        """Return the currency of a proposed amount, which may have been changed with the amount."""
        roles = self.presentation.roles
        if view.name != roles.get("amount") or "currency" not in roles:
            return view.unit
        currency = self._original.get(roles["currency"])
        return currency if isinstance(currency, str) and currency else view.unit

    def _views(
        self, source: str, values: Mapping[str, Any], hints: Mapping[str, ValueHint]
    ) -> list[ValueView]:
        """Return the views of some values; after MAX_SHOWN values, large ones come later."""
        views, left = [], MAX_SHOWN
        roles = set(self.presentation.roles.values()) if source == "values" else set()
        for name, value in values.items():
            at, hint = self._address(source, name), hints.get(name)
            # Other values of the page may need the text of a role, such as a diff.
            is_text = isinstance(value, str) and is_long(value) and name not in roles
            if left <= 0 and value and (is_text or isinstance(value, Mapping | list)):
                views.append(later_view(name, value, hint, at=at))
                continue
            schema = self._schemas.get(name) if source == "values" else None
            views.append(view_of(name, value, hint, schema, at=at))
            left -= shown_parts(views[-1])
        return views

    def _address(self, source: str, name: str) -> str:
        """Return the address of a value, to which the page adds the pointer of a part of it."""
        path = quote(pointer((name,)), safe="", errors="surrogatepass")
        return f"{self._more_url}?of={self.version}&in={source}&at={path}"

    @cached_property
    def _more_url(self) -> str:
        return reverse("more_values", args=[self.form.detail.interrupt.pk])

    @cached_property
    def version(self) -> str:
        """Identify the values of the page: what is loaded later belongs to them."""
        decision = self.form.detail.decision
        return f"{self.form.detail.interrupt.shown_digest}-{decision.pk if decision else ''}"

    def later(self, source: str, path: str, start: int | None) -> ValueView | None:
        """
        Return the value for an address of this page, or rows of its table from `start` on.

        None for an address that leads nowhere.
        """
        sources = {
            "values": self._shown_values,
            "proposed": self._original,
            "metadata": self._metadata,
            "others": self.present.others,
        }
        values = sources.get(source, {})
        name = path[1:].replace("~1", "/").replace("~0", "~")
        if start is None and name in values:
            hints = self._team_hints if source == "metadata" else self._hints
            return self._views(source, {name: values[name]}, hints)[0]
        value = resolve_reference(values, f"#{quote(path, errors='surrogatepass')}")
        is_table = start is not None and isinstance(value, list)
        return rows_from(value, start or 0) if is_table else None

    def _real_name(self, name: str) -> str:
        hint = self._team_hints.get(name)
        return escape_invisible(name) or "(empty name)" if hint and hint.label else ""

    def _with_currency(self, views: Sequence[ValueView]) -> list[ValueView]:
        return with_currency(views, self.presentation)

    @cached_property
    def _schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """The schemas of the arguments, for their media types and hints."""
        return _argument_schemas(self.form.detail.schema)

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        form = self.form.arguments_form
        if not self.has_fields or form is None or not self.is_read_view:
            return {}
        prefix = f"{form.root.name}/"
        by_name = {node.name: node for node in form.root.fields}
        values = self._shown_values
        return {
            name: by_name[prefix + name_part(name)]
            for name in values
            if prefix + name_part(name) in by_name
        }

    @cached_property
    def _editing(self) -> frozenset[str]:
        """The names of the values that are being edited, by the posted form and its button."""
        submission = self.form.submission
        if submission is None:
            return frozenset()
        verb, _, name = submission.data.get("draft", "").partition(":")
        names = frozenset(submission.data.getlist(EDITING))
        if verb == "tab":
            return frozenset({ALL_VALUES}) if name.startswith("form:args") else frozenset()
        return names | {name} if verb == "edit" else names

    def _is_editing(self, node: Node, name: str) -> bool:
        if self._editing & {name, ALL_VALUES} or any(child.problems for child in node.walk()):
            return True
        if self.form.submission is None or node.is_later:
            return False
        edited = self.form.edited_values
        if edited is ABSENT or not isinstance(edited, Mapping):
            # Some value cannot be read: show what was typed wherever the text differs.
            return any(child.text != child.initial_text for child in node.walk())
        return not is_same_json(
            edited.get(name, ABSENT), self.form.proposed_values.get(name, ABSENT)
        )


def scalar_views(
    interrupt: Interrupt, agui_interrupt: Mapping[str, Any], values: Mapping[str, Any]
) -> Mapping[str, ValueView]:
    """Return the numbers and texts among the arguments of a call, as its page shows them."""
    present, declared = present_of(agui_interrupt), declared_body(interrupt)
    schemas = _argument_schemas(agui_interrupt.get("responseSchema"))
    authors = _author_hints(interrupt.author, present, schemas)
    hints = {**authors, **hints_of(declared.get("values"))}
    presentation = choose(
        Subject(
            values=values,
            tool=interrupt.tool,
            reason=interrupt.reason,
            declared=str(declared.get("kind") or present.kind),
            roles=_roles(hints),
        )
    )
    views = [
        view_of(name, value, hints.get(name))
        for name, value in values.items()
        if isinstance(value, str | int | float)
    ]
    return {view.name: view for view in with_currency(views, presentation)}


def with_currency(views: Sequence[ValueView], presentation: Presentation) -> list[ValueView]:
    """Return the views with a declared amount of money in the currency of its payment."""
    amount, currency = (presentation.roles.get(name) for name in ("amount", "currency"))
    texts = {view.name: view.text for view in views}
    unit = texts.get(currency or "", "")
    return [with_unit(view, unit or view.unit) if view.name == amount else view for view in views]


def _with_later_fields(slots: Sequence[Slot]) -> list[Slot]:
    """Return the slots; of values that are only read, the page has MAX_HIDDEN_FIELDS in lists."""
    left, result = MAX_HIDDEN_FIELDS, []
    for slot in slots:
        count = sum(1 for _ in slot.node.walk()) if slot.node and not slot.is_editing else 0
        is_later = count > 0 and (slot.view.look is Look.LATER or 1 < count > left)
        left -= count if 1 < count <= left else 0
        result.append(replace(slot, is_field_later=is_later))
    return result


def _has_currency(amount: Slot | None, currency: Slot | None) -> bool:
    """Return whether the amount of a payment shows its currency, which needs no second place."""
    if amount is None or currency is None or currency.is_editing or currency.before:
        return False
    return amount.view.unit == currency.view.text


def _roles(hints: Mapping[str, ValueHint]) -> dict[str, str]:
    return {hint.role: name for name, hint in hints.items() if hint.role}


def _argument_schemas(schema: Mapping[str, Any] | None) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemas of the arguments, for their media types and hints."""
    edits = member_schema(schema, "editedArgs") or {}
    members = edits.get("properties")
    if not isinstance(members, Mapping):
        return {}
    return {name: item for name, item in members.items() if isinstance(item, Mapping)}


def _author_hints(
    author: Author, present: Present, schemas: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, ValueHint]:
    """Return the hints of the author; no words from outside stand in for an argument's name."""
    by_schema = hints_of({name: schema.get(HINT_KEYWORD) for name, schema in schemas.items()})
    if author == Author.OPERATOR:
        return {**by_schema, **present.values}
    values = present.values if author == Author.PROGRAM else {}
    return hints_from_outside({**by_schema, **values})


def fact_view(fact: DeclaredFact) -> ValueView:
    """Return a fact with its own label, masked if its name is that of a secret."""
    value = MASK if is_secret_name(fact.label) and fact.value is not None else fact.value
    view = view_of(fact.label, value, fact.hint)
    return replace(view, label=escape_invisible(fact.label))
