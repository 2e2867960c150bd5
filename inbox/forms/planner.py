"""Planning of forms: maps a schema and a value to nodes, for rendering and for reading."""

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext

from inbox.forms import labels
from inbox.forms.file_fields import FormFiles, plan_file
from inbox.forms.form_nodes import Node, Option, Row
from inbox.forms.scalar_fields import plan_checkboxes, plan_choice, plan_number, plan_text
from inbox.forms.schema_resolver import (
    UNSUPPORTED_KEYWORDS,
    SchemaResolver,
    UnsupportedSchema,
    implied_type,
    is_only_validation,
    types_of,
)
from inbox.forms.submission import Submission
from inbox.forms.values import (
    ABSENT,
    has_type,
    is_valid_key,
    name_part,
    type_of,
)
from inbox.rules.schema.schema_secrets import is_marked
from inbox.rules.schema.secrets import MASK, is_secret_name
from inbox.rules.text.labels import label_of
from inbox.rules.text.numbers import ENGLISH, NumberFormat
from inbox.rules.text.safe_text import escape_invisible, json_text

#: Parts of the schema beyond these limits become one JSON text area.
MAX_FIELDS = 300
MAX_OPTIONS = 3_000
MAX_DEPTH = 8
_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")


class Planner:
    """A planner of one form with bounded work."""

    def __init__(
        self,
        schema: Any,
        submission: Submission | None,
        *,
        shows_real_names: bool = False,
        files: FormFiles | None = None,
        numbers: NumberFormat = ENGLISH,
    ) -> None:
        self.schemas = SchemaResolver(schema)
        self.numbers = numbers  #: the format of numbers in fields
        self.submission = submission
        #: Whether real names and values are shown beside the agent's titles, so that a title cannot
        #: disguise what is approved.
        self.shows_real_names = shows_real_names
        self.files = files  #: None for forms without uploads
        self.fields_left = MAX_FIELDS
        self.options_left = MAX_OPTIONS

    def plan(
        self,
        schema: Any,
        value: Any,
        *,
        name: str,
        label: str,
        required: bool,
        depth: int = 0,
        excluded: Collection[str] = (),
        in_branch: bool = False,
        masked: Any = ABSENT,
        is_secret: bool = False,
    ) -> Node:
        """
        Return the node for one value; `label` is used if the schema has no title.

        `masked` is the value with masks, ABSENT if it has no secrets.
        """
        masked = value if masked is ABSENT else masked
        node = Node("json", name, label, required, value, masked, is_in_branch=in_branch)
        try:
            flat_schema = self.schemas.flatten(schema)
            node.schema = flat_schema
            node.label = title_of(flat_schema) or label
            if not node.is_masked:
                self._plan_kind(node, flat_schema, depth, excluded)
        except UnsupportedSchema:
            node = Node("json", name, node.label, required, value, masked, schema=node.schema)
        node.is_later = self.submission is not None and self.submission.is_later(name)
        node.is_secret = is_secret or is_marked(node.schema)
        if node.is_masked:
            self._plan_masked(node)
        elif node.kind == "json":
            node.initial_text = "" if value is ABSENT else json_text(masked)
            node.text = self.current_text_of(node)
        elif node.kind == "fixed" and node.is_secret and node.initial_text:
            node.initial_text = MASK
        node.help = labels.help_for(node)
        return node

    def current_text_of(self, node: Node) -> str:
        """Return the submitted text of a node's control, or its initial text."""
        posted = self.submission.text(node.name) if self.submission else None
        return node.initial_text if posted is None else posted.replace("\r\n", "\n")

    def _plan_kind(
        self, node: Node, flat_schema: dict[str, Any], depth: int, excluded: Collection[str]
    ) -> None:
        if types_of(flat_schema) == ["null"] and node.original in (None, ABSENT):
            flat_schema["const"] = None
        if "const" in flat_schema or flat_schema.get("readOnly") is True:
            self._plan_fixed(node, flat_schema)
            return
        if "enum" not in flat_schema and self._plan_union(node, flat_schema, depth, excluded):
            return
        kind = self._control_type(node, flat_schema)
        # Unsupported schemas, and values that the schema does not describe, are edited as JSON.
        if kind is None or UNSUPPORTED_KEYWORDS & flat_schema.keys() or depth > MAX_DEPTH:
            raise UnsupportedSchema
        node.schema = flat_schema
        if kind in ("string", "object") and plan_file(self, node):
            return
        self._plan_control(node, kind, flat_schema, depth, excluded)

    def _plan_control(
        self,
        node: Node,
        kind: str,
        flat_schema: dict[str, Any],
        depth: int,
        excluded: Collection[str],
    ) -> None:
        value = ABSENT if node.nullable and node.original is None else node.original
        match kind:
            case "choice":
                plan_choice(self, node, flat_schema, value)
            case "object":
                self._plan_group(node, flat_schema, value, depth, excluded)
            case "array":
                self._plan_array(node, flat_schema, value, depth)
            case "number" | "integer":
                plan_number(self, node)
            case "string":
                plan_text(self, node)
            case _:
                raise UnsupportedSchema

    def _control_type(self, node: Node, flat_schema: dict[str, Any]) -> str | None:
        """Return the kind of control for a schema; None if there is none."""
        if "enum" in flat_schema:
            return "choice"
        types = types_of(flat_schema)
        if "null" in types and len(types) > 1:
            types.remove("null")
            self._set_nullable(node)
        value = ABSENT if node.nullable and node.original is None else node.original
        if len(types) > 1:
            return None
        type_name = types[0] if types else implied_type(flat_schema)
        if type_name is None and self.files is not None and "contentMediaType" in flat_schema:
            type_name = "string"
        if value is not ABSENT:
            if type_name is None:
                type_name = type_of(value).replace("integer", "number")
            elif not has_type(value, type_name):
                return None
        if type_name == "boolean":
            flat_schema["enum"] = [True, False]
            return "choice"
        return type_name if type_name in _TYPES else None

    def _set_nullable(self, node: Node) -> None:
        node.nullable = True
        node.is_null = node.original is None
        if self.submission:
            node.is_null = self.submission.has(f"{node.name}@null")

    def _plan_masked(self, node: Node) -> None:
        """Plan a field that contains a mask; unchanged, it is read back as the agent's value."""
        node.initial_text = MASK
        if node.schema.get("readOnly") is True or "const" in node.schema:
            node.kind = "fixed"
        elif isinstance(node.original, str):
            node.kind = "area" if "\n" in node.original else "text"
        elif isinstance(node.original, int | float):
            node.kind = "number"
        node.text = self.current_text_of(node)

    def _plan_fixed(self, node: Node, flat_schema: dict[str, Any]) -> None:
        node.kind = "fixed"
        value = flat_schema.get("const", ABSENT) if node.original is ABSENT else node.masked
        if value is not ABSENT:
            node.initial_text = (
                escape_invisible(value) if isinstance(value, str) else json_text(value)
            )

    # -- unions ---------------------------------------------------------------------------------

    def _plan_union(
        self, node: Node, flat_schema: dict[str, Any], depth: int, excluded: Collection[str]
    ) -> bool:
        """Plan `oneOf` or `anyOf`; return False if the schema has none that affects the form."""
        unions = [keyword for keyword in ("oneOf", "anyOf") if keyword in flat_schema]
        if not unions:
            return False
        if len(unions) > 1:
            raise UnsupportedSchema
        keyword = unions[0]
        branches = flat_schema.pop(keyword)
        if is_only_validation(branches):
            return False
        if self._plan_titled_enum(node, flat_schema, branches):
            return False
        others = [number for number, branch in enumerate(branches) if not self._is_null(branch)]
        nulls = [number for number in range(len(branches)) if number not in others]
        if len(others) == 1:
            merged = self.schemas.flatten({"allOf": [flat_schema, branches[others[0]]]})
            flat_schema.clear()
            flat_schema.update(merged)
            if nulls:
                self._set_nullable(node)
            node.resolved_branches.append(
                (keyword, nulls[0] if nulls and node.is_null else others[0])
            )
            node.schema = flat_schema
            self._plan_kind(node, flat_schema, depth, excluded)
            return True
        self._plan_branches(node, flat_schema, branches, keyword, depth, excluded)
        return True

    def _plan_branches(
        self,
        node: Node,
        flat_schema: dict[str, Any],
        branches: list[Any],
        keyword: str,
        depth: int,
        excluded: Collection[str],
    ) -> None:
        self._count_fields(1 + len(branches))
        if depth > MAX_DEPTH:
            raise UnsupportedSchema
        node.kind = "branch"
        node.options = [
            Option(str(number), labels.branch_label(number, self._flatten_or_empty(branch)), None)
            for number, branch in enumerate(branches)
        ]
        matching_branch = None
        if node.original is not ABSENT:
            matches = (
                number
                for number, branch in enumerate(branches)
                if self.schemas.fits({"allOf": [flat_schema, branch]}, node.original)
            )
            matching_branch = next(matches, None)
            if matching_branch is None:
                raise UnsupportedSchema
        node.branch_number = matching_branch
        posted = self.submission.branch(node.name) if self.submission else None
        if posted is not None:
            node.branch_number = posted if 0 <= posted < len(branches) else None
        if node.branch_number is None:
            return
        node.resolved_branches.append((keyword, node.branch_number))
        child = self.plan(
            {"allOf": [flat_schema, branches[node.branch_number]]},
            node.original if node.branch_number == matching_branch else ABSENT,
            name=f"{node.name}@{node.branch_number}",
            label=node.label,
            required=True,
            depth=depth + 1,
            excluded=excluded,
            in_branch=True,
            masked=node.masked if node.branch_number == matching_branch else ABSENT,
        )
        node.fields = [child]

    def _plan_titled_enum(
        self, node: Node, flat_schema: dict[str, Any], branches: list[Any]
    ) -> bool:
        """Turn a `oneOf` of constants with titles into an enum; return False for other unions."""
        parts = [self._flatten_or_empty(branch) for branch in branches]
        if not all("const" in part or self._is_null(part) for part in parts):
            return False
        flat_schema["enum"] = [part.get("const") for part in parts]
        flat_schema["enumTitles"] = [title_of(part) for part in parts]
        return True

    def _is_null(self, branch: Any) -> bool:
        flat_schema = self._flatten_or_empty(branch)
        return flat_schema.get("type") in ("null", ["null"]) or flat_schema.get("const", 0) is None

    def _flatten_or_empty(self, branch: Any) -> dict[str, Any]:
        try:
            return self.schemas.flatten(branch)
        except UnsupportedSchema:
            return {}

    # -- groups and lists -----------------------------------------------------------------------

    def _plan_group(
        self,
        node: Node,
        flat_schema: dict[str, Any],
        value: Any,
        depth: int,
        excluded: Collection[str],
    ) -> None:
        properties = flat_schema.get("properties", {})
        additional = flat_schema.get(
            "additionalProperties", flat_schema.get("unevaluatedProperties", True)
        )
        names = [name for name in properties if name not in excluded]
        if not (isinstance(additional, Mapping) and additional):
            # Required properties get a field even if the schema says nothing about them.
            unknown = set(flat_schema.get("required", ())) - {
                *properties,
                *excluded,
                *(value or ()),
            }
            names += sorted(unknown) if additional is not False else []
        extra = [name for name in value or () if name not in properties and name not in excluded]
        node.accepts_rows = isinstance(additional, Mapping) and bool(additional)
        has_content = names or extra or node.accepts_rows or value is not ABSENT or excluded
        if not has_content and additional is not False:
            raise UnsupportedSchema  # any object: there are no fields to show
        if not all(is_valid_key(name) for name in [*names, *extra]):
            raise UnsupportedSchema
        node.kind = "group"
        self._set_state(node, value)
        if not node.is_present:
            return
        children = names if node.accepts_rows else [*names, *extra]
        self._count_fields(len(children))
        required = flat_schema.get("required", ())
        for name in children:
            node.fields.append(
                self.plan(
                    properties.get(name, {}),
                    _member(value, name),
                    name=f"{node.name}/{name_part(name)}",
                    label=label_of(name),
                    # A property that the schema does not name may be required: keep it.
                    required=name in required or name not in properties,
                    depth=depth + 1,
                    masked=_member(node.masked, name),
                    is_secret=is_secret_name(name),
                )
            )
            node.fields[-1].key = name
            if self.shows_real_names and node.fields[-1].label != label_of(name):
                node.fields[-1].real_name = escape_invisible(name)
        if node.accepts_rows:
            self._plan_pairs(node, additional, value, extra, depth)

    def _plan_pairs(
        self, node: Node, additional: Any, value: Any, extra: list[str], depth: int
    ) -> None:
        node.next_token = len(extra)
        tokens = self._tokens(node, len(extra))
        self._count_fields(2 * len(tokens))
        node.item_label = gettext(labels.PAIR)
        for token in tokens:
            key = extra[token] if token < len(extra) else ABSENT
            name = f"{node.name}@{token}"
            key_node = Node("text", f"{name}@key", gettext(labels.KEY), required=True, original=key)
            key_node.initial_text = "" if key is ABSENT else key
            key_node.text = self.current_text_of(key_node)
            key_node.in_row = True
            child = self.plan(
                additional,
                ABSENT if key is ABSENT else value[key],
                name=name,
                label=labels.value_label(escape_invisible(key_node.text)),
                required=True,
                depth=depth + 1,
                masked=ABSENT if key is ABSENT else node.masked[key],
            )
            child.in_row = True
            node.rows.append(Row(token, child, key_node))
        node.can_add = self.fields_left > 2

    def _plan_array(self, node: Node, flat_schema: dict[str, Any], value: Any, depth: int) -> None:
        if not node.contains_mask and plan_checkboxes(self, node, flat_schema, value):
            return
        items = flat_schema.get("items", flat_schema.get("unevaluatedItems", {}))
        if items is False:
            raise UnsupportedSchema
        originals = [] if value is ABSENT else value
        if items in ({}, True):
            items = _common_schema(originals)
        node.kind = "list"
        node.accepts_rows = True
        self._set_state(node, value)
        if not node.is_present:
            return
        node.next_token = len(originals)
        tokens = self._tokens(node, len(originals))
        self._count_fields(len(tokens))
        title = title_of(self._flatten_or_empty(items))
        node.item_label = title or gettext(labels.ITEM)
        blank = Node("json", node.name, "", required=True, original=ABSENT, masked=ABSENT)
        blank.schema = self._flatten_or_empty(items)
        if plan_file(self, blank):
            node.file_field = blank.file_field
        for number, token in enumerate(tokens, start=1):
            child = self.plan(
                items,
                originals[token] if token < len(originals) else ABSENT,
                name=f"{node.name}/{token}",
                label=gettext(labels.ITEM),
                required=True,
                depth=depth + 1,
                masked=node.masked[token] if token < len(originals) else ABSENT,
            )
            child.label = labels.item_label(child.label, number)
            child.in_row = True
            node.rows.append(Row(token, child))
        most = flat_schema.get("maxItems", MAX_FIELDS)
        # Files are added by choosing them.
        node.can_add = len(tokens) < most and self.fields_left > 0 and node.file_field is None

    def _set_state(self, node: Node, value: Any) -> None:
        if value is not ABSENT:
            node.state = "on"
        elif node.is_null:
            node.state = "null"
        else:
            # A chosen branch counts as input even without fields.
            node.state = "on" if node.is_in_branch else "auto" if node.required else "off"
        posted = self.submission.state(node.name) if self.submission else None
        if posted is not None:
            node.state = posted
        node.is_null = node.state == "null" and node.nullable
        if node.state == "null" and not node.nullable:
            node.state = "off"

    def _tokens(self, node: Node, count: int) -> list[int]:
        posted = self.submission.tokens(node.name) if self.submission else None
        return list(range(count)) if posted is None else posted

    def _count_fields(self, count: int) -> None:
        """Count fields before they are planned; raise if they exceed the limit."""
        if count > self.fields_left:
            raise UnsupportedSchema
        self.fields_left -= count


def title_of(flat_schema: Mapping[str, Any]) -> str:
    title = flat_schema.get("title")
    return escape_invisible(title[:200]).strip() if isinstance(title, str) else ""


def _member(value: Any, name: str) -> Any:
    return value[name] if value is not ABSENT and name in value else ABSENT


def _common_schema(values: list[Any]) -> dict[str, Any]:
    """Return a schema for items of a list without an item schema, derived from its values."""
    types = {type_of(value).replace("integer", "number") for value in values}
    only = types.pop() if len(types) == 1 else None
    return {"type": only} if only in ("string", "number", "boolean") else {}
