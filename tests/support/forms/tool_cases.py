"""Schemas as tools carry them: zod, OpenAI's strict tools, MCP servers, LangGraph."""

from tests.support.forms.case import Case

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def strict(properties):
    """An OpenAI tool schema: everything required, nothing else allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


ISSUE = strict(
    {
        "title": {"type": "string", "description": "One line."},
        "body": {"type": ["string", "null"]},
        "labels": {"type": "array", "items": {"type": "string", "enum": ["bug", "idea"]}},
        "assignee": {"anyOf": [strict({"login": {"type": "string"}}), {"type": "null"}]},
        "estimate": {"type": ["number", "null"]},
    }
)
ZOD_EVENT = {
    "$schema": DRAFT_7,
    "type": "object",
    "properties": {
        "slug": {"type": "string", "pattern": "^(?!-)[a-z-]+(?<!-)$"},
        "at": {"type": "string", "format": "date-time"},
        "who": {
            "anyOf": [
                {"type": "object", "properties": {"type": {"const": "user", "type": "string"}}},
                {"type": "object", "properties": {"type": {"const": "team", "type": "string"}}},
            ]
        },
        "size": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "retries": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9007199254740991},
    },
    "required": ["slug", "at", "who"],
    "additionalProperties": False,
}
ZOD_SHARED = {
    "$schema": DRAFT_7,
    "$ref": "#/definitions/Order",
    "definitions": {
        "Order": {
            "type": "object",
            "properties": {
                "from": {"type": "string"},
                "to": {"$ref": "#/definitions/Order/properties/from"},
            },
        }
    },
}
LANGGRAPH = {
    "oneOf": [
        {
            "type": "object",
            "title": "Accept",
            "properties": {"type": {"const": "accept"}},
            "required": ["type"],
        },
        {
            "type": "object",
            "title": "Respond",
            "properties": {"type": {"const": "response"}, "args": {"type": "string"}},
            "required": ["type", "args"],
        },
        {
            "type": "object",
            "title": "Edit",
            "properties": {"type": {"const": "edit"}, "args": {"type": "object"}},
            "required": ["type", "args"],
        },
    ]
}
MCP_FILES = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
                "additionalProperties": False,
            },
        },
        "dryRun": {"type": "boolean", "default": False},
    },
    "required": ["path", "edits"],
    "$schema": DRAFT_7,
}
MCP_ELICIT = {
    "type": "object",
    "properties": {
        "size": {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "name": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "age": {"type": "integer", "minimum": 0},
    },
    "required": ["size"],
}

TOOLS = [
    Case(
        "strict: nulls for what is optional",
        ISSUE,
        {"title": "T", "body": None, "labels": ["bug"], "assignee": None, "estimate": None},
    ),
    Case(
        "strict: filled in",
        ISSUE,
        {"title": "T", "body": "", "labels": [], "assignee": {"login": "x"}, "estimate": 0.5},
    ),
    Case("strict: something else along", ISSUE, {"title": "T", "more": [None]}),
    Case(
        "strict: nested nulls",
        strict({"a": ISSUE}),
        {"a": {"title": "", "labels": ["idea", "bug"]}},
    ),
    Case(
        "zod: look-ahead, a union, a map",
        ZOD_EVENT,
        {
            "slug": "a-b",
            "at": "2025-01-01T00:00:00.000Z",
            "who": {"type": "team"},
            "size": 2,
            "tags": {"k": "v"},
            "retries": 1,
        },
    ),
    Case("zod: a union by its text", ZOD_EVENT, {"slug": "-", "at": "x", "who": {}, "size": "XL"}),
    Case("zod: shared definitions", ZOD_SHARED, {"from": "a", "to": "b"}),
    Case(
        "zod: a tuple of draft 7",
        {"$schema": DRAFT_7, "type": "array", "items": [{"type": "string"}, {"type": "number"}]},
        ["a", 1],
    ),
    Case("langgraph: accept", LANGGRAPH, {"type": "accept"}),
    Case("langgraph: respond", LANGGRAPH, {"type": "response", "args": "Not yet.\r\nPlease wait."}),
    Case("langgraph: edit", LANGGRAPH, {"type": "edit", "args": {"to": "a@x.example", "n": 3}}),
    Case(
        "langgraph: an action request",
        {"type": "object"},
        {
            "action_request": {"action": "send", "args": {"to": ["a"]}},
            "config": {"allow_edit": True},
        },
    ),
    Case(
        "mcp: edits of a file",
        MCP_FILES,
        {"path": "/a b", "edits": [{"oldText": "\tx\n", "newText": "\n\ty"}], "dryRun": False},
    ),
    Case("mcp: edits without any", MCP_FILES, {"path": "", "edits": []}),
    Case("mcp: titled choices", MCP_ELICIT, {"size": "l", "name": "b", "age": 0}),
    Case("mcp: no input", {"type": "object", "properties": {}, "additionalProperties": False}, {}),
    Case(
        "mcp: any input", {"type": "object", "additionalProperties": True}, {"q": "x", "n": [1.5]}
    ),
]
