"""Reading of JSON Schemas of the drafts 4 to 2020-12 as one self-contained schema of 2020-12."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import jsonschema_rs

from inbox.rules.schema.schema_cost import SchemaRejected, Uncheckable
from inbox.rules.schema.schema_walk import NESTED, resolve_reference, walk

_DRAFTS = {
    "http://json-schema.org/draft-04/schema": 4,
    "http://json-schema.org/draft-06/schema": 6,
    "http://json-schema.org/draft-07/schema": 7,
    "https://json-schema.org/draft/2019-09/schema": 2019,
    "https://json-schema.org/draft/2020-12/schema": 2020,
}
_URIS = {draft: uri for uri, draft in _DRAFTS.items()}
#: A schema that declares no dialect is read as the newest one in which it is valid.
_GUESSES = (2020, 2019, 7, 6, 4)
#: The keywords that a draft added; older drafts ignore them.
_ADDED = {
    6: {"const", "contains", "examples", "propertyNames"},
    7: {"if", "then", "else", "readOnly", "writeOnly", "contentMediaType", "contentEncoding"},
    2019: {
        *("$anchor", "dependentRequired", "dependentSchemas", "minContains", "maxContains"),
        *("unevaluatedItems", "unevaluatedProperties"),
    },
    2020: {"prefixItems", "$dynamicRef", "$dynamicAnchor"},
}
#: Annotations keep their meaning for people in every draft.
_ANNOTATIONS = {"examples", "readOnly", "writeOnly", "contentMediaType", "contentEncoding"}
_SCHEMAS = {
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if"),
    *("items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
}
_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems", "items"}
_MAPS = {
    *("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties"),
    "properties",
}
_SAFE = "/~$!&'()*+,;=:@-._"  #: the characters of a URI fragment
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


def in_newest_draft(schema: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the schema in draft 2020-12, with references of the form `#/...` only.

    Keywords beside a `$ref` count in every draft, although the drafts 4 to 7 ignore them: authors
    mean them, and a limit that is ignored would let an answer pass.

    Raises:
        Uncheckable: it refers to another document.
        SchemaRejected: it is not valid in its dialect, or in any if it declares none.
    """
    declared = schema.get("$schema")
    draft = _DRAFTS.get(declared.rstrip("#")) if isinstance(declared, str) else None
    bare = {key: member for key, member in schema.items() if key != "$schema"}
    valid = _valid_draft(bare, (draft,) if draft else _GUESSES)
    return _Reader(bare, valid, is_declared=draft is not None).read()


def _valid_draft(schema: dict[str, Any], drafts: tuple[int, ...]) -> int:
    problem = ""
    for draft in drafts:
        try:
            jsonschema_rs.meta.validate({**schema, "$schema": _URIS[draft]})
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            problem = problem or str(error).partition("\n")[0]
        else:
            return draft
    raise SchemaRejected(f"not a usable JSON Schema: {problem[:300]}")


class _Reader:
    """The conversion of one document."""

    def __init__(self, root: dict[str, Any], draft: int, *, is_declared: bool) -> None:
        self._root = root
        self._draft = draft
        self._id_keyword = "id" if draft == 4 else "$id"
        self._ids: list[tuple[str, str]] = []  #: with the pointers of their schemas
        self._anchors: dict[str, list[str]] = {}  #: the pointers of an anchor
        #: A dialect that was guessed by one keyword says nothing about the others.
        self._ignored = (
            {keyword for added, words in _ADDED.items() if added > draft for keyword in words}
            - _ANNOTATIONS
            if is_declared
            else set[str]()
        )

    def read(self) -> dict[str, Any]:
        converted: dict[str, Any] = self._schema(self._root, "")
        return self._with_plain_references(converted)

    def _schema(self, schema: Any, place: str) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        self._note_names(schema, place)
        result: dict[str, Any] = {}
        for keyword, value in schema.items():
            if keyword not in self._ignored and keyword != self._id_keyword:
                result |= self._keyword(keyword, value, schema, place)
        return result

    def _note_names(self, schema: Mapping[str, Any], place: str) -> None:
        name = schema.get(self._id_keyword)
        if isinstance(name, str):
            if name.startswith("#"):  # an anchor of drafts 4 to 7
                self._anchors.setdefault(name[1:], []).append(place)
            else:
                self._ids.append((name.rstrip("#"), place))
        for keyword in _ANCHORS:
            if isinstance(schema.get(keyword), str) and keyword not in self._ignored:
                self._anchors.setdefault(schema[keyword], []).append(place)

    def _keyword(
        self, keyword: str, value: Any, schema: Mapping[str, Any], place: str
    ) -> dict[str, Any]:
        if keyword == "$recursiveRef":
            return {"$ref": value}
        if keyword == "dependencies" and isinstance(value, Mapping):
            return self._dependencies(value, place)
        if self._draft == 4 and keyword in ("minimum", "maximum"):
            exclusive = f"exclusive{keyword.capitalize()}"
            return {exclusive if schema.get(exclusive) is True else keyword: value}
        name = self._new_name(keyword, schema)
        return {name: self._value(keyword, value, f"{place}/{_escaped(name)}")} if name else {}

    def _value(self, keyword: str, value: Any, place: str) -> Any:
        if keyword in _LISTS and isinstance(value, list):
            return [self._schema(part, f"{place}/{number}") for number, part in enumerate(value)]
        if keyword in _MAPS and isinstance(value, Mapping):
            return {
                name: self._schema(part, f"{place}/{_escaped(name)}")
                for name, part in value.items()
            }
        return self._schema(value, place) if keyword in _SCHEMAS else value

    def _new_name(self, keyword: str, schema: Mapping[str, Any]) -> str:
        """Return the name of a keyword in 2020-12, "" for one that is left out."""
        if keyword in (*_ANCHORS, "$recursiveAnchor"):
            return ""
        if self._draft == 2020:
            return keyword
        is_tuple = isinstance(schema.get("items"), list)
        if keyword == "items" and is_tuple:
            return "prefixItems"
        if keyword == "additionalItems":
            return "items" if is_tuple else ""
        if self._draft == 4 and keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            return ""
        return keyword

    def _dependencies(self, value: Mapping[str, Any], place: str) -> dict[str, Any]:
        inner = f"{place}/dependentSchemas"
        names = {key: item for key, item in value.items() if isinstance(item, list)}
        schemas = {
            key: self._schema(item, f"{inner}/{_escaped(key)}")
            for key, item in value.items()
            if not isinstance(item, list)
        }
        members = {"dependentRequired": names, "dependentSchemas": schemas}
        return {name: member for name, member in members.items() if member}

    def _with_plain_references(self, converted: dict[str, Any]) -> dict[str, Any]:
        """Resolve anchors and the document's own id in the references."""
        is_split = any(place for _, place in self._ids)
        for node in list(walk(converted, converted, NESTED)):
            if not isinstance(node, dict):
                continue
            targets = [node.pop(keyword) for keyword in _REFERENCES if keyword in node]
            if targets and is_split:
                raise Uncheckable("it has several documents inside ($id)")
            pointers = [self._pointer(target) for target in targets]
            if pointers:
                node["$ref"] = pointers[0]
            if pointers[1:]:
                references = [{"$ref": pointer} for pointer in pointers[1:]]
                node["allOf"] = [*node.get("allOf", ()), *references]
        return converted

    def _pointer(self, target: str) -> str:
        own = next((name for name, _ in self._ids), "")
        if own and target.partition("#")[0] == own:
            target = target[len(own) :] or "#"
        if not target.startswith("#"):
            raise Uncheckable(f"it refers to another document: {target[:100]}")
        if target == "#":
            return target
        if target.startswith("#/"):
            return self._moved(target)
        places = self._anchors.get(unquote(target[1:]), [])
        if not places:
            raise SchemaRejected(f"reference to an anchor that is not there: {target[:100]}")
        if len(places) > 1:
            raise Uncheckable(f"it has several parts with the anchor {target[:100]}")
        return _reference(places[0])

    def _moved(self, target: str) -> str:
        """Return a pointer into the old document as one into the new document."""
        node, place, is_in_map = self._root, "", False
        for raw in unquote(target[2:]).split("/"):
            part = raw.replace("~1", "/").replace("~0", "~")
            opens_map = not is_in_map and part in _MAPS
            # A member with the name of a keyword, as in `#/properties/items`, stays.
            if not is_in_map and isinstance(node, Mapping) and part in node:
                if part == "dependencies" and self._draft < 2020:
                    part = "dependentSchemas"
                else:
                    part = self._new_name(part, node) or part
            is_in_map = opens_map
            node = resolve_reference(node, f"#/{raw}")
            place += f"/{_escaped(part)}"
        return _reference(place)


def _reference(place: str) -> str:
    return f"#{quote(place, safe=_SAFE)}"


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
