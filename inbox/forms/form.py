"""One form: what it shows, which tab is current, and what a post of it says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from agents.agui import strict_json
from inbox.forms import wording
from inbox.forms.drafts import apply_draft, put_focus
from inbox.forms.faults import blame_empty_groups, blame_faults, pointer_of
from inbox.forms.nodes import Node, Problem, Reading
from inbox.forms.planner import Planner
from inbox.forms.posts import Posted
from inbox.forms.reading import Reader
from inbox.forms.values import ABSENT, field_id, plain_newlines, same, strings
from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import check_schema
from inbox.rules.schema.secrets import NAMES, NumberedMasks, Secrets
from inbox.rules.text.safe_text import escape_invisible, has_invisible_characters, json_text

FORM_TAB = "form"
JSON_TAB = "json"
#: Says in a post that the fields start from what the agent wrote; no JSON text is like it.
AS_WRITTEN = "="
#: What is asked for where nobody said what: it has a text area.
TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 1_000_000}


@dataclass(frozen=True)
class _Source:
    """What the form is made of, whoever posts what."""

    schema: Any
    value: Any
    name: str
    leave_out: Collection[str]
    is_text: bool  #: whether the fields ask for a text
    masks: NumberedMasks | None = None  #: of what is secret in the value

    def veiled(self, value: Any) -> Any:
        """The value, of what the form starts from or of what it says, with the masks in it."""
        if self.masks is None or value is ABSENT:
            return value
        return self.masks.hidden_again(value)

    def unveiled(self, reader: Reader, root: Node, value: Any) -> Any:
        """What was read, with secrets in the places of masks."""
        if self.masks is None or value is ABSENT:
            return value
        try:
            return self.masks.restored(value)
        except InvalidPayload:
            return reader.blame(root, (), gettext(wording.MASK_MOVED))

    def plan(self, posted: Posted | None, base: Any) -> Node:
        is_text = self.is_text and (base is ABSENT or isinstance(base, str))
        schema = TEXT if is_text else self.schema
        node = Planner(schema, posted, names_facts=self.value is not ABSENT).plan(
            schema,
            base,
            name=self.name,
            label=gettext(wording.ROOT),
            required=True,
            leave_out=self.leave_out,
            veiled=self.veiled(base),
        )
        if is_text:
            node.help = []
        return node

    def json_node(self, text: str | None = None) -> Node:
        shown = _json_text(self.veiled(self.value))
        node = Node(
            "json",
            f"{self.name}.json",
            gettext(wording.AS_JSON),
            required=True,
            original=self.value,
            veiled=self.value,
        )
        node.shown = shown
        node.text = shown if text is None else text
        return node


@dataclass(frozen=True)
class Form:
    """The plan of one form, with everything that its templates show."""

    source: _Source
    tab: str
    root: Node  #: the fields, or the text area of the JSON tab
    base: Any  #: what the fields start from: the agent's value, or what the JSON tab made of it
    problems: Sequence[Problem] = ()
    notice: str = ""

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def fields(self) -> Sequence[Node]:
        return (self.root,)

    @property
    def base_text(self) -> str:
        """The base, for the next post."""
        if same(self.base, self.source.value):
            return AS_WRITTEN
        return _json_text(self.source.veiled(self.base))

    @property
    def folded(self) -> Sequence[str]:
        """The ids of the fields that have to be opened before one can say to have read them."""
        return [node.id for node in self.root.walk() if node.folds]

    @property
    def has_hidden(self) -> bool:
        """Whether the agent's value has characters that cannot be seen."""
        value = self.source.value
        return value is not ABSENT and any(map(has_invisible_characters, strings(value)))

    def read(self, post: QueryDict) -> Reading:
        """What was posted, or what is wrong with it; nothing is made up for what is not there."""
        _, reading = _read(self.source, Posted(post))
        return reading


def build_form(
    *,
    schema: Mapping[str, Any] | None,
    value: Any = ABSENT,
    name: str,
    leave_out: Collection[str] = (),
    posted: QueryDict | None = None,
    secrets: Secrets = NAMES,
    is_text: bool = False,
) -> Form:
    """
    The form for one value of a schema; one that does not pass the gate is not used at all.

    `value` is what the agent wrote, ABSENT where an answer is asked for; what is secret in it is
    masked, and comes out as it was unless somebody writes another value. `leave_out` names members
    that the page asks for in another place. With `is_text` the fields ask for a text, while the
    JSON tab takes whatever the schema allows. With `posted` the form shows what was typed: after a
    button that changes the form (`draft`) changed by it, otherwise with what is wrong.
    """
    if isinstance(value, Mapping) and leave_out:
        value = {key: member for key, member in value.items() if key not in leave_out}
    masks = None
    if value is not ABSENT:
        masks = NumberedMasks(secrets)
        masks.hidden(value)
    source = _Source(_usable(schema), value, name, frozenset(leave_out), is_text, masks)
    post = Posted(posted) if posted is not None else None
    if post is None or post.text(f"{name}.tab") is None:
        return Form(source, FORM_TAB, source.plan(None, value), value)
    form = _read(source, post)[0] if post.draft is None else _drafted(source, post)
    opened = set(post.texts("opened"))
    for node in form.root.walk():
        node.opened = node.id in opened
    return form


def _usable(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """
    The schema, if answers can be checked against it.

    On arrival the gate refuses others; a part that was taken out of its document may still be one.
    """
    if schema is None:
        return {}
    try:
        check_schema(schema)
    except SchemaRejected:
        return {}
    return schema


def _drafted(source: _Source, post: Posted) -> Form:
    """The form after a button changed it: nothing is called wrong that is only not there yet."""
    draft = post.draft or ""
    try:
        base = _base(source, post)
    except strict_json.JsonRejected:
        return _not_arrived(source)[0]
    is_json = post.text(f"{source.name}.tab") == JSON_TAB
    if _is_switch(draft, JSON_TAB, source) and not is_json:
        return _to_json(source, post, base)
    if _is_switch(draft, FORM_TAB, source) and is_json:
        return _to_fields(source, post, base)
    if is_json:
        return Form(source, JSON_TAB, source.json_node(post.text(f"{source.name}.json")), base)
    notice = apply_draft(draft, post, lambda: source.plan(post, base))
    root = source.plan(post, base)
    put_focus(root, draft)
    return Form(source, FORM_TAB, root, base, notice=notice)


def _is_switch(draft: str, tab: str, source: _Source) -> bool:
    return draft in (f"tab:{tab}", f"tab:{tab}:{source.name}")


def _to_json(source: _Source, post: Posted, base: Any) -> Form:
    root = source.plan(post, base)
    reader = Reader(post)
    value = source.unveiled(reader, root, reader.read(root))
    if reader.wrong:  # what cannot be read cannot be written down either
        return Form(source, FORM_TAB, root, base, _problems(root, reader))
    text = "" if value is ABSENT or root.is_empty else json_text(source.veiled(value))
    return Form(source, JSON_TAB, source.json_node(text), base)


def _to_fields(source: _Source, post: Posted, base: Any) -> Form:
    node = source.json_node(post.text(f"{source.name}.json"))
    reader = Reader(post)
    value = _read_json_node(reader, node, source, base)
    if reader.wrong:
        return Form(source, JSON_TAB, node, base, _problems(node, reader))
    return Form(source, FORM_TAB, source.plan(None, value), value)


def _read(source: _Source, post: Posted) -> tuple[Form, Reading]:
    try:
        base = _base(source, post)
    except strict_json.JsonRejected:
        return _not_arrived(source)
    reader = Reader(post)
    match post.text(f"{source.name}.tab"):
        case "json":
            root = source.json_node(post.text(f"{source.name}.json"))
            value = _read_json_node(reader, root, source, base)
        case "form":
            root = source.plan(post, base)
            value = source.unveiled(reader, root, reader.read(root))
        case _:
            return _not_arrived(source)
    _check(reader, root, source, value)
    problems = _problems(root, reader)
    tab = JSON_TAB if root.name == f"{source.name}.json" else FORM_TAB
    # Beside buttons nothing has to be said in the form itself; its constants belong to the answer.
    is_nothing = root.is_empty and not source.leave_out
    reading = Reading(ABSENT, problems, value) if is_nothing else Reading(value, problems)
    return Form(source, tab, root, base, problems), reading


def _check(reader: Reader, root: Node, source: _Source, value: Any) -> None:
    """Find what is wrong with a value, unless it is the agent's own: that is not ours to mend."""
    if value is ABSENT:
        if not reader.wrong and not source.leave_out:
            reader.blame(root, (), wording.enter(root))
    elif source.value is ABSENT or not same(value, source.value):
        reader.tells_values = source.masks is None or source.masks.is_empty
        probe = reader.with_empty_groups(value)
        blame_faults(reader, schema=source.schema, value=probe, leave_out=source.leave_out)
        if not root.is_empty:
            blame_empty_groups(reader)


def _read_json_node(reader: Reader, node: Node, source: _Source, base: Any) -> Any:
    """What the text area of the JSON tab says; what was left out of the form has no place in it."""
    if plain_newlines(node.text) == plain_newlines(_json_text(source.veiled(base))):
        reader.places[()] = [node]
        return base
    value = source.unveiled(reader, node, reader.read(node))
    taken = sorted(source.leave_out & value.keys()) if isinstance(value, dict) else []
    if taken:
        return reader.blame(node, (), wording.asked_elsewhere(escape_invisible(taken[0])))
    return value


def _base(source: _Source, post: Posted) -> Any:
    """What the fields started from when the page was made."""
    text = post.text(f"{source.name}.base")
    if text is None:
        raise strict_json.JsonRejected(gettext(wording.FORM_NOT_ARRIVED))
    if text == AS_WRITTEN:
        return source.value
    if not text:
        return ABSENT
    base = strict_json.loads(text)
    try:
        return base if source.masks is None else source.masks.restored(base)
    except InvalidPayload as error:
        raise strict_json.JsonRejected(error.message) from error


def _json_text(value: Any) -> str:
    return "" if value is ABSENT else json_text(value)


def _not_arrived(source: _Source) -> tuple[Form, Reading]:
    """The form as it was at first, because what came cannot be told from what is missing."""
    form = Form(source, FORM_TAB, source.plan(None, source.value), source.value)
    id_ = field_id(source.name)
    problems = [Problem(id_, "", form.root.label, gettext(wording.FORM_NOT_ARRIVED))]
    return replace(form, problems=problems), Reading(ABSENT, problems)


def _problems(root: Node, reader: Reader) -> list[Problem]:
    """What is wrong, in the order of the fields on the page."""
    paths = {id(node): path for path, node in reversed(reader.wrong)}
    return [
        Problem(node.id, pointer_of(paths[id(node)]), node.label, message)
        for node in root.walk()
        if id(node) in paths
        for message in node.problems
    ]
