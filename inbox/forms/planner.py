"""The plan of a form: one function takes the decisions for showing it and for reading it back."""

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.translation import gettext

from inbox.forms import wording
from inbox.forms.leaves import plan_choice, plan_many, plan_number, plan_text
from inbox.forms.nodes import Node, Row
from inbox.forms.posts import Posted
from inbox.forms.shapes import NOT_SHOWN, NotPlain, Schemas, implied_type, types_of
from inbox.forms.values import (
    ABSENT,
    has_type,
    is_key_for_a_name,
    label_of,
    name_part,
    type_of,
)
from inbox.rules.schema.schema_secrets import is_marked
from inbox.rules.schema.secrets import MASK, is_secret_name
from inbox.rules.text.safe_text import escape_invisible, json_text

#: More fields than this are one text area of JSON instead, and so is what lies deeper.
MOST_FIELDS = 300
MOST_OPTIONS = 3_000
DEEPEST = 8
_PLAIN = ("string", "number", "integer", "boolean", "object", "array", "null")


class Planner:
    """Plans one form; how much it plans is counted, whatever the schema says."""

    def __init__(self, schema: Any, posted: Posted | None, *, names_facts: bool = False) -> None:
        self.schemas = Schemas(schema)
        self.posted = posted
        #: Whether real names and values are shown beside the titles that an agent gives them: what
        #: is approved must not read like something else.
        self.names_facts = names_facts
        self.fields_left = MOST_FIELDS
        self.options_left = MOST_OPTIONS

    def plan(
        self,
        schema: Any,
        value: Any,
        *,
        name: str,
        label: str,
        required: bool,
        depth: int = 0,
        leave_out: Collection[str] = (),
        in_branch: bool = False,
        veiled: Any = ABSENT,
        is_secret: bool = False,
    ) -> Node:
        """
        The node for one value; `label` is used where the schema has no title.

        `veiled` is the value with masks in it, if there are some.
        """
        veiled = value if veiled is ABSENT else veiled
        node = Node("json", name, label, required, value, veiled, is_in_branch=in_branch)
        try:
            flat = self.schemas.flat(schema)
            node.schema = flat
            node.label = title_of(flat) or label
            if not node.is_veiled:
                self._shape(node, flat, depth, leave_out)
        except NotPlain:
            node = Node("json", name, node.label, required, value, veiled, schema=node.schema)
        node.is_secret = is_secret or is_marked(node.schema)
        if node.is_veiled:
            self._plan_masked(node)
        elif node.kind == "json":
            node.shown = "" if value is ABSENT else json_text(veiled)
            node.text = self.typed(node)
        elif node.kind == "fixed" and node.is_secret and node.shown:
            node.shown = MASK
        node.help = wording.help_for(node)
        return node

    def typed(self, node: Node) -> str:
        """What the control of a node holds: what was typed into it, or what it showed."""
        posted = self.posted.text(node.name) if self.posted else None
        return node.shown if posted is None else posted.replace("\r\n", "\n")

    def _shape(
        self, node: Node, flat: dict[str, Any], depth: int, leave_out: Collection[str]
    ) -> None:
        if types_of(flat) == ["null"] and node.original in (None, ABSENT):
            flat["const"] = None
        if "const" in flat or flat.get("readOnly") is True:
            self._plan_fixed(node, flat)
            return
        if "enum" not in flat and self._plan_union(node, flat, depth, leave_out):
            return
        kind = self._type_of(node, flat)
        # What no form shows is asked for as JSON, and so is a value that its schema speaks not of.
        if kind is None or NOT_SHOWN & flat.keys() or depth > DEEPEST:
            raise NotPlain
        node.schema = flat
        value = ABSENT if node.nullable and node.original is None else node.original
        match kind:
            case "choice":
                plan_choice(self, node, flat, value)
            case "object":
                self._plan_group(node, flat, value, depth, leave_out)
            case "array":
                self._plan_array(node, flat, value, depth)
            case "number" | "integer":
                plan_number(self, node)
            case "string":
                plan_text(self, node)
            case _:
                raise NotPlain

    def _type_of(self, node: Node, flat: dict[str, Any]) -> str | None:
        """How a value of this schema is asked for; None if that is nothing a form can show."""
        if "enum" in flat:
            return "choice"
        types = types_of(flat)
        if "null" in types and len(types) > 1:
            types.remove("null")
            self._set_nullable(node)
        value = ABSENT if node.nullable and node.original is None else node.original
        if len(types) > 1:
            return None
        found = types[0] if types else implied_type(flat)
        if value is not ABSENT:
            if found is None:
                found = type_of(value).replace("integer", "number")
            elif not has_type(value, found):
                return None
        if found == "boolean":
            flat["enum"] = [True, False]
            return "choice"
        return found if found in _PLAIN else None

    def _set_nullable(self, node: Node) -> None:
        node.nullable = True
        node.is_null = node.original is None
        if self.posted:
            node.is_null = self.posted.has(f"{node.name}@null")

    def _plan_masked(self, node: Node) -> None:
        """A field that holds a mask: as long as it does, it stands for what the agent wrote."""
        node.is_masked = True
        node.shown = MASK
        if node.schema.get("readOnly") is True or "const" in node.schema:
            node.kind = "fixed"
        elif isinstance(node.original, str):
            node.kind = "area" if "\n" in node.original else "text"
        elif isinstance(node.original, int | float):
            node.kind = "number"
        node.text = self.typed(node)

    def _plan_fixed(self, node: Node, flat: dict[str, Any]) -> None:
        node.kind = "fixed"
        value = flat.get("const", ABSENT) if node.original is ABSENT else node.veiled
        if value is not ABSENT:
            node.shown = escape_invisible(value) if isinstance(value, str) else json_text(value)

    # -- unions ---------------------------------------------------------------------------------

    def _plan_union(
        self, node: Node, flat: dict[str, Any], depth: int, leave_out: Collection[str]
    ) -> bool:
        """Plan `oneOf` or `anyOf`; False if the schema has none that matters to the form."""
        found = [keyword for keyword in ("oneOf", "anyOf") if keyword in flat]
        if not found:
            return False
        if len(found) > 1:
            raise NotPlain
        keyword = found[0]
        branches = flat.pop(keyword)
        if self.schemas.only_checks(branches):
            return False
        if self._plan_titled_enum(node, flat, branches):
            return False
        some = [number for number, branch in enumerate(branches) if not self._is_null(branch)]
        nulls = [number for number in range(len(branches)) if number not in some]
        if len(some) == 1:
            merged = self.schemas.flat({"allOf": [flat, branches[some[0]]]})
            flat.clear()
            flat.update(merged)
            if nulls:
                self._set_nullable(node)
            node.choices.append((keyword, nulls[0] if nulls and node.is_null else some[0]))
            node.schema = flat
            self._shape(node, flat, depth, leave_out)
            return True
        self._plan_branches(node, flat, branches, keyword, depth, leave_out)
        return True

    def _plan_branches(
        self,
        node: Node,
        flat: dict[str, Any],
        branches: list[Any],
        keyword: str,
        depth: int,
        leave_out: Collection[str],
    ) -> None:
        self._take(1 + len(branches))
        if depth > DEEPEST:
            raise NotPlain
        node.kind = "branch"
        node.options = [
            wording.branch_option(number, self._flat_or_empty(branch))
            for number, branch in enumerate(branches)
        ]
        fitting = None
        if node.original is not ABSENT:
            ranked = (n for n, branch in enumerate(branches) if self._fits(flat, branch, node))
            fitting = next(ranked, None)
            if fitting is None:
                raise NotPlain
        node.chosen = fitting
        posted = self.posted.branch(node.name) if self.posted else None
        if posted is not None:
            node.chosen = posted if 0 <= posted < len(branches) else None
        if node.chosen is None:
            return
        node.choices.append((keyword, node.chosen))
        child = self.plan(
            {"allOf": [flat, branches[node.chosen]]},
            node.original if node.chosen == fitting else ABSENT,
            name=f"{node.name}@{node.chosen}",
            label=node.label,
            required=True,
            depth=depth + 1,
            leave_out=leave_out,
            in_branch=True,
            veiled=node.veiled if node.chosen == fitting else ABSENT,
        )
        node.fields = [child]

    def _fits(self, flat: dict[str, Any], branch: Any, node: Node) -> bool:
        return self.schemas.fits({"allOf": [flat, branch]}, node.original)

    def _plan_titled_enum(self, node: Node, flat: dict[str, Any], branches: list[Any]) -> bool:
        """`oneOf` of constants with titles is how schemas give the values of an enum names."""
        parts = [self._flat_or_empty(branch) for branch in branches]
        if not all("const" in part or self._is_null(part) for part in parts):
            return False
        flat["enum"] = [part.get("const") for part in parts]
        flat["enumTitles"] = [title_of(part) for part in parts]
        return True

    def _is_null(self, branch: Any) -> bool:
        flat = self._flat_or_empty(branch)
        return flat.get("type") in ("null", ["null"]) or flat.get("const", 0) is None

    def _flat_or_empty(self, branch: Any) -> dict[str, Any]:
        try:
            return self.schemas.flat(branch)
        except NotPlain:
            return {}

    # -- groups and lists -----------------------------------------------------------------------

    def _plan_group(
        self,
        node: Node,
        flat: dict[str, Any],
        value: Any,
        depth: int,
        leave_out: Collection[str],
    ) -> None:
        known = flat.get("properties", {})
        more = flat.get("additionalProperties", flat.get("unevaluatedProperties", True))
        names = [name for name in known if name not in leave_out]
        if not (isinstance(more, Mapping) and more):
            # What has to be there has a field, even if nothing more is said of it.
            unknown = set(flat.get("required", ())) - {*known, *leave_out, *(value or ())}
            names += sorted(unknown) if more is not False else []
        extra = [name for name in value or () if name not in known and name not in leave_out]
        node.takes_rows = isinstance(more, Mapping) and bool(more)
        shows = names or extra or node.takes_rows or value is not ABSENT or leave_out
        if not shows and more is not False:
            raise NotPlain  # any object at all: nothing to show fields for
        if not all(is_key_for_a_name(name) for name in [*names, *extra]):
            raise NotPlain
        node.kind = "group"
        self._set_state(node, value)
        if not node.is_there:
            return
        children = names if node.takes_rows else [*names, *extra]
        self._take(len(children))
        required = flat.get("required", ())
        for name in children:
            node.fields.append(
                self.plan(
                    known.get(name, {}),
                    _member(value, name),
                    name=f"{node.name}/{name_part(name)}",
                    label=label_of(name),
                    # Nobody knows whether a property that no schema names may be left out.
                    required=name in required or name not in known,
                    depth=depth + 1,
                    veiled=_member(node.veiled, name),
                    is_secret=is_secret_name(name),
                )
            )
            node.fields[-1].key = name
            if self.names_facts and node.fields[-1].label != label_of(name):
                node.fields[-1].real_name = escape_invisible(name)
        if node.takes_rows:
            self._plan_pairs(node, more, value, extra, depth)

    def _plan_pairs(self, node: Node, more: Any, value: Any, extra: list[str], depth: int) -> None:
        node.next_token = len(extra)
        tokens = self._tokens(node, len(extra))
        self._take(2 * len(tokens))
        node.item_label = gettext(wording.PAIR)
        for token in tokens:
            key = extra[token] if token < len(extra) else ABSENT
            name = f"{node.name}@{token}"
            key_node = Node(
                "text", f"{name}@key", gettext(wording.KEY), required=True, original=key
            )
            key_node.shown = "" if key is ABSENT else key
            key_node.text = self.typed(key_node)
            key_node.in_row = True
            child = self.plan(
                more,
                ABSENT if key is ABSENT else value[key],
                name=name,
                label=wording.value_label(escape_invisible(key_node.text)),
                required=True,
                depth=depth + 1,
                veiled=ABSENT if key is ABSENT else node.veiled[key],
            )
            child.in_row = True
            node.rows.append(Row(token, child, key_node))
        node.can_add = self.fields_left > 2

    def _plan_array(self, node: Node, flat: dict[str, Any], value: Any, depth: int) -> None:
        if not node.hides and plan_many(self, node, flat, value):
            return
        items = flat.get("items", flat.get("unevaluatedItems", {}))
        if items is False:
            raise NotPlain
        originals = [] if value is ABSENT else value
        if items in ({}, True):
            items = _alike(originals)
        node.kind = "list"
        node.takes_rows = True
        self._set_state(node, value)
        if not node.is_there:
            return
        node.next_token = len(originals)
        tokens = self._tokens(node, len(originals))
        self._take(len(tokens))
        title = title_of(self._flat_or_empty(items))
        node.item_label = title or gettext(wording.ITEM)
        for place, token in enumerate(tokens, start=1):
            child = self.plan(
                items,
                originals[token] if token < len(originals) else ABSENT,
                name=f"{node.name}/{token}",
                label=gettext(wording.ITEM),
                required=True,
                depth=depth + 1,
                veiled=node.veiled[token] if token < len(originals) else ABSENT,
            )
            child.label = wording.item_label(child.label, place)
            child.in_row = True
            node.rows.append(Row(token, child))
        most = flat.get("maxItems", MOST_FIELDS)
        node.can_add = len(tokens) < most and self.fields_left > 0

    def _set_state(self, node: Node, value: Any) -> None:
        if value is not ABSENT:
            node.state = "on"
        elif node.is_null:
            node.state = "null"
        else:
            # Who chose a branch has said something, even if there is nothing to fill in.
            node.state = "on" if node.is_in_branch else "auto" if node.required else "off"
        posted = self.posted.state(node.name) if self.posted else None
        if posted is not None:
            node.state = posted
        node.is_null = node.state == "null" and node.nullable
        if node.state == "null" and not node.nullable:
            node.state = "off"

    def _tokens(self, node: Node, count: int) -> list[int]:
        posted = self.posted.tokens(node.name) if self.posted else None
        return list(range(count)) if posted is None else posted

    def _take(self, count: int) -> None:
        """Count fields before they are planned: what does not fit any more becomes JSON as one."""
        if count > self.fields_left:
            raise NotPlain
        self.fields_left -= count


def title_of(flat: Mapping[str, Any]) -> str:
    title = flat.get("title")
    return escape_invisible(title[:200]).strip() if isinstance(title, str) else ""


def _member(value: Any, name: str) -> Any:
    return value[name] if value is not ABSENT and name in value else ABSENT


def _alike(values: list[Any]) -> dict[str, Any]:
    """The schema for another item of a list that no schema speaks of."""
    types = {type_of(value).replace("integer", "number") for value in values}
    only = types.pop() if len(types) == 1 else None
    return {"type": only} if only in ("string", "number", "boolean") else {}
