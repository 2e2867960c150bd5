"""Forms: building one from a schema and a value, and reading a submission of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from agents.agui import strict_json
from inbox.forms import labels
from inbox.forms.drafts import apply_draft, set_focus
from inbox.forms.field_errors import add_empty_group_errors, add_schema_errors
from inbox.forms.file_fields import FormFiles
from inbox.forms.form_nodes import FormResult, Node, Problem
from inbox.forms.number_format import number_format
from inbox.forms.planner import Planner
from inbox.forms.submission import Submission
from inbox.forms.submission_reader import SubmissionReader
from inbox.forms.values import ABSENT, all_strings, field_id, is_same_json, plain_newlines
from inbox.rules.errors import InvalidPayload
from inbox.rules.schema.schema_cost import SchemaRejected
from inbox.rules.schema.schemas import ReadSchema, read_schema
from inbox.rules.schema.secrets import NAMES, NumberedMasks, pointer
from inbox.rules.text.numbers import ENGLISH, FORMATS, NumberFormat
from inbox.rules.text.safe_text import escape_invisible, has_invisible_characters, json_text

FORM_TAB = "form"
JSON_TAB = "json"
#: A button only: the page shows the fields as values to read.
READ_TAB = "read"
#: Marks in a submission that the fields start from the agent's value; not a JSON text.
ORIGINAL = "="
#: The schema of an answer without a schema: a text area.
TEXT: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": 1_000_000}


@dataclass(frozen=True)
class _Source:
    """What a form is built from, independent of submissions."""

    schema: Any
    value: Any
    name: str
    excluded: Collection[str]
    is_text: bool  #: whether the fields are one text field
    masks: NumberedMasks | None = None  #: of the secrets in the value
    files: FormFiles | None = None
    unchecked: str = ""  #: why values are not checked against the agent's schema
    numbers: NumberFormat = ENGLISH

    def mask(self, value: Any) -> Any:
        """Return a value with its secrets masked."""
        if self.masks is None or self.masks.is_empty or value is ABSENT:
            return value
        return self.masks.hidden_again(value)

    def unmask(self, reader: SubmissionReader, root: Node, value: Any) -> Any:
        """Return a value with its masks replaced by secrets."""
        if self.masks is None or value is ABSENT:
            return value
        try:
            return self.masks.restored(value)
        except InvalidPayload:
            return reader.add_error(root, (), gettext(labels.MASK_MOVED))

    def plan(self, submission: Submission | None, base: Any) -> Node:
        is_text = self.is_text and (base is ABSENT or isinstance(base, str))
        schema = TEXT if is_text else self.schema
        planner = Planner(
            schema,
            submission,
            shows_real_names=self.value is not ABSENT,
            files=self.files,
            numbers=self.numbers,
        )
        node = planner.plan(
            schema,
            base,
            name=self.name,
            label=gettext(labels.ROOT),
            required=True,
            excluded=self.excluded,
            masked=self.mask(base),
        )
        if is_text:
            node.help = []
        if self.unchecked:
            node.help.append(gettext(labels.UNCHECKED))
        return node

    def json_node(self, text: str | None = None) -> Node:
        initial_text = _json_text(self.mask(self.value))
        node = Node(
            "json",
            f"{self.name}.json",
            gettext(labels.AS_JSON),
            required=True,
            original=self.value,
            masked=self.value,
        )
        node.initial_text = initial_text
        node.text = initial_text if text is None else text
        return node


@dataclass(frozen=True)
class Form:
    """One form, with everything that its templates show."""

    source: _Source
    tab: str
    root: Node  #: the fields, or the text area of the JSON tab
    base: Any  #: what the fields start from: the agent's value, or the value of the JSON tab
    problems: Sequence[Problem] = ()
    notice: str = ""

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def numbers(self) -> NumberFormat:
        return self.source.numbers

    @property
    def fields(self) -> Sequence[Node]:
        return (self.root,)

    @property
    def base_text(self) -> str:
        """Return the base as text, for the next submission."""
        if is_same_json(self.base, self.source.value):
            return ORIGINAL
        return _json_text(self.source.mask(self.base))

    @property
    def collapsible_ids(self) -> Sequence[str]:
        """Return the ids of collapsed fields, which have to be opened before approval."""
        return [node.id for node in self.root.walk() if node.is_collapsible]

    @property
    def has_invisible_characters(self) -> bool:
        """Return whether the agent's value contains invisible characters."""
        value = self.source.value
        return value is not ABSENT and any(map(has_invisible_characters, all_strings(value)))

    def read(self, data: QueryDict) -> FormResult:
        """Return the submitted value, or the problems with it; missing values are never guessed."""
        _, result = _read(self.source, Submission(data))
        return result


def build_form(
    *,
    schema: Mapping[str, Any] | None,
    value: Any = ABSENT,
    name: str,
    excluded: Collection[str] = (),
    data: QueryDict | None = None,
    masks: NumberedMasks | None = None,
    is_text: bool = False,
    files: FormFiles | None = None,
) -> Form:
    """
    Build the form for one value of a schema; an invalid schema is ignored.

    `value` is the agent's value, or ABSENT for an answer. Its secrets are masked, by `masks` if
    they were found already; a mask that is not edited is read back as the secret. `excluded`
    members have fields elsewhere on the page. With `is_text` the form is one text field, while the
    JSON tab accepts whatever the schema allows. With `data`, a submission, the form shows what was
    typed: changed by a button (`draft`) or with its problems. With `files` the schemas of files
    become uploads.
    """
    if isinstance(value, Mapping) and excluded:
        value = {key: member for key, member in value.items() if key not in excluded}
    if value is not ABSENT and masks is None:
        masks = NumberedMasks(NAMES)
        masks.hidden(value)
    read = _read_schema(schema)
    submission = Submission(data) if data is not None else None
    # Typed numbers are read as the page wrote them, also if the language has changed since.
    posted = submission.text(f"{name}.numbers") if submission else None
    source = _Source(
        read.schema,
        value,
        name,
        frozenset(excluded),
        is_text,
        masks,
        files,
        read.unchecked,
        FORMATS.get(posted or "") or number_format(),
    )
    if submission is None or submission.text(f"{name}.tab") is None:
        return Form(source, FORM_TAB, source.plan(None, value), value)
    form = (
        _read(source, submission)[0]
        if submission.draft is None
        else _apply_button(source, submission)
    )
    opened = set(submission.texts("opened"))
    for node in form.root.walk():
        node.opened = node.id in opened
    return form


def _read_schema(schema: Mapping[str, Any] | None) -> ReadSchema:
    """
    Return the schema as answers are checked against it, {} if it is invalid.

    Invalid schemas are rejected on arrival, but a part of a valid document may be invalid.
    """
    if schema is None:
        return ReadSchema({})
    try:
        return read_schema(schema)
    except SchemaRejected:
        return ReadSchema({})


def _apply_button(source: _Source, submission: Submission) -> Form:
    """Return the form after a button has changed it, without errors about missing values."""
    draft = submission.draft or ""
    try:
        base = _parse_base(source, submission)
    except strict_json.JsonRejected:
        return _incomplete(source)[0]
    is_json = submission.text(f"{source.name}.tab") == JSON_TAB
    if _is_switch(draft, JSON_TAB, source) and not is_json:
        return _to_json(source, submission, base)
    if _is_switch(draft, FORM_TAB, source) and is_json:
        return _to_fields(source, submission, base)
    if is_json:
        return Form(
            source, JSON_TAB, source.json_node(submission.text(f"{source.name}.json")), base
        )
    notice = apply_draft(draft, submission, lambda: source.plan(submission, base))
    root = source.plan(submission, base)
    set_focus(root, draft)
    return Form(source, FORM_TAB, root, base, notice=notice)


def _is_switch(draft: str, tab: str, source: _Source) -> bool:
    # Pages may show the fields as values to read.
    tabs = (tab, READ_TAB) if tab == FORM_TAB else (tab,)
    return any(draft in (f"tab:{name}", f"tab:{name}:{source.name}") for name in tabs)


def _to_json(source: _Source, submission: Submission, base: Any) -> Form:
    root = source.plan(submission, base)
    reader = SubmissionReader(submission, files=source.files, numbers=source.numbers)
    value = source.unmask(reader, root, reader.read(root))
    if reader.errors:  # unreadable fields have no JSON
        return Form(source, FORM_TAB, root, base, _problems(root, reader))
    text = "" if value is ABSENT or root.is_empty else json_text(source.mask(value))
    return Form(source, JSON_TAB, source.json_node(text), base)


def _to_fields(source: _Source, submission: Submission, base: Any) -> Form:
    node = source.json_node(submission.text(f"{source.name}.json"))
    reader = SubmissionReader(submission, files=source.files, numbers=source.numbers)
    value = _read_json_node(reader, node, source, base)
    if reader.errors:
        return Form(source, JSON_TAB, node, base, _problems(node, reader))
    return Form(source, FORM_TAB, source.plan(None, value), value)


def _read(source: _Source, submission: Submission) -> tuple[Form, FormResult]:
    try:
        base = _parse_base(source, submission)
    except strict_json.JsonRejected:
        return _incomplete(source)
    reader = SubmissionReader(submission, files=source.files, numbers=source.numbers)
    match submission.text(f"{source.name}.tab"):
        case "json":
            root = source.json_node(submission.text(f"{source.name}.json"))
            value = _read_json_node(reader, root, source, base)
        # Without the format of the page, 1.250 could be read as another number.
        case "form" if submission.text(f"{source.name}.numbers") in FORMATS:
            root = source.plan(submission, base)
            value = source.unmask(reader, root, reader.read(root))
        case _:
            return _incomplete(source)
    _check(reader, root, source, value)
    problems = _problems(root, reader)
    tab = JSON_TAB if root.name == f"{source.name}.json" else FORM_TAB
    # An empty form is valid beside buttons; its constants still belong to the answer.
    is_blank = root.is_empty and not source.excluded
    result = FormResult(ABSENT, problems, value) if is_blank else FormResult(value, problems)
    return Form(source, tab, root, base, problems), result


def _check(reader: SubmissionReader, root: Node, source: _Source, value: Any) -> None:
    """Add errors for an invalid value, unless it is the agent's own value unchanged."""
    if value is ABSENT:
        if not reader.errors and not source.excluded:
            reader.add_error(root, (), labels.missing_text(root))
    elif source.value is ABSENT or not is_same_json(value, source.value):
        reader.may_quote_values = source.masks is None or source.masks.is_empty
        complete_value = reader.with_required_groups(value)
        add_schema_errors(
            reader, schema=source.schema, value=complete_value, excluded=source.excluded
        )
        if not root.is_empty:
            add_empty_group_errors(reader)


def _read_json_node(reader: SubmissionReader, node: Node, source: _Source, base: Any) -> Any:
    """Return the value of the JSON tab, which must not contain excluded members."""
    if plain_newlines(node.text) == plain_newlines(_json_text(source.mask(base))):
        reader.nodes_by_path[()] = [node]
        return base
    value = source.unmask(reader, node, reader.read(node))
    unexpected = sorted(source.excluded & value.keys()) if isinstance(value, dict) else []
    if unexpected:
        return reader.add_error(node, (), labels.must_leave_out(escape_invisible(unexpected[0])))
    return value


def _parse_base(source: _Source, submission: Submission) -> Any:
    """Return the value from which the submitted fields started."""
    text = submission.text(f"{source.name}.base")
    if text is None:
        raise strict_json.JsonRejected(gettext(labels.FORM_INCOMPLETE))
    if text == ORIGINAL:
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


def _incomplete(source: _Source) -> tuple[Form, FormResult]:
    """Return the initial form with the error that the submission was incomplete."""
    form = Form(source, FORM_TAB, source.plan(None, source.value), source.value)
    form_id = field_id(source.name)
    problems = [Problem(form_id, "", form.root.label, gettext(labels.FORM_INCOMPLETE))]
    return replace(form, problems=problems), FormResult(ABSENT, problems)


def _problems(root: Node, reader: SubmissionReader) -> list[Problem]:
    """Return the problems in the order of the fields on the page."""
    paths = {id(node): path for path, node in reversed(reader.errors)}
    return [
        Problem(node.id, pointer(paths[id(node)]), node.label, message)
        for node in root.walk()
        if id(node) in paths
        for message in node.problems
    ]
