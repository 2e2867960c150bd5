"""Texts, keys and numbers that controls of browsers are known to change."""

from tests.support.forms.case import Case

TEXT = {"type": "object", "properties": {"s": {"type": "string"}}}
LONG = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 5_000}}}
NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}}
MAIL = {"type": "object", "properties": {"m": {"type": "string", "format": "email"}}}


def text(name, value, schema=TEXT):
    return Case(f"text: {name}", schema, {"s": value})


def number(name, value):
    return Case(f"number: {name}", NUMBER, {"n": value})


TEXTS = [
    text("CRLF", "a\r\nb"),
    text("a lone CR", "a\rb"),
    text("a newline in front", "\na", LONG),
    text("newlines only", "\n\n", LONG),
    text("CRLF in front", "\r\n\r\na", LONG),
    text("spaces around", "  a  "),
    text("only spaces", "   "),
    text("tabs", "\ta\tb\t"),
    text("an escape character", "a\x1b[31mred"),
    text("a form feed", "a\x0cb"),
    text("a delete and a C1", "a\x7fb\x85c"),
    text("a byte order mark", "\ufeffa"),
    text("a noncharacter", "a\ufffeb\uffff"),
    text("line and paragraph separators", "a\u2028b\u2029c"),
    text("right to left", "مرحبا بالعالم 123"),
    text("an override", "abc\u202edef\u202c"),
    text("zero width", "pay\u200bpal\u2060"),
    text("tag characters", "hi\U000e0041\U000e0042"),
    text(
        "emoji",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f3f3\ufe0f\u200d\U0001f308 ✌\U0001f3fd",
    ),
    text("combining, not composed", "e\u0301 vs é"),
    text("astral", "\U0001d4b3\U0001d4b4 😀"),
    text("markup", "</textarea><script>alert(1)</script>&amp;&#13;&lt;", LONG),
    text("an end of an attribute", '"\'><b x="&quot;'),
    text("entities", "&nbsp;&#0;&#x80;&copy"),
    text("very long", "word " * 2_000),
    text("very many lines", "line\n" * 100),
    text("91 characters", "x" * 91),
    text("template syntax", "{{ form }}{% csrf_token %}"),
    Case("text: an e-mail with spaces", MAIL, {"m": " a@x.example "}),
    Case(
        "text: an address with a newline",
        {"properties": {"u": {"type": "string", "format": "uri"}}},
        {"u": "https://x.example/\n"},
    ),
    Case(
        "text: times",
        {"properties": {k: {"type": "string", "format": "time"} for k in "abc"}},
        {"a": "10:00:00Z", "b": "10:00", "c": "10:00:00.5+02:00"},
    ),
    Case(
        "text: dates",
        {"properties": {k: {"type": "string", "format": "date"} for k in "abcd"}},
        {"a": "2025-01-02", "b": "2025-1-2", "c": "", "d": "0000-01-01"},
    ),
    Case(
        "text: moments",
        {"properties": {k: {"type": "string", "format": "date-time"} for k in "abcd"}},
        {
            "a": "2025-01-02T03:04:00Z",
            "b": "2025-01-02T03:04:00z",
            "c": "2025-01-02 03:04",
            "d": "0001-01-01T00:00:00Z",
        },
    ),
    Case(
        "text: no schema",
        None,
        {"subject": "a", "body": "b\r\nc", "n": 1, "ok": False, "none": None},
    ),
    number("zero below zero", -0.0),
    number("small", 5e-324),
    number("large", 1.7976931348623157e308),
    number("a whole float", 100.0),
    number("0.1 + 0.2", 0.1 + 0.2),
    number("the largest safe", 9007199254740991),
    Case("number: beyond", NUMBER, {"n": 9007199254740993}),
    Case("number: as text", {"properties": {"n": {"type": "string"}}}, {"n": "9007199254740993"}),
    Case(
        "keys: of JavaScript",
        {
            "type": "object",
            "properties": {
                "__proto__": {"type": "string"},
                "constructor": {"type": "object", "properties": {"prototype": {"type": "number"}}},
                "toString": {"type": "boolean"},
            },
        },
        {"__proto__": "x", "constructor": {"prototype": 1}, "toString": True},
    ),
    Case(
        "keys: of forms",
        {"type": "object"},
        {
            "submit": "a",
            "action": "b",
            "id": "c",
            "name": "d",
            "draft": "e",
            "opened": "f",
            "csrfmiddlewaretoken": "g",
            "_charset_": "h",
            "isindex": "i",
        },
    ),
    Case(
        "keys: of names here",
        {"type": "object"},
        {"a@on": "1", "a": {"@rows": "2", "0": "3"}, "a/0": "4", "a%2F0": "5", "x@1": {"y": "6"}},
    ),
    Case(
        "keys: that only differ in case or signs",
        {"type": "object"},
        {"a-b": "1", "a_b": "2", "a.b": "3", "A-B": "4", "a b": "5", "a_2d_b": "6"},
    ),
    Case(
        "keys: with control characters",
        {"type": "object"},
        {"a\nb": "1", "c\rd": "2", "e": "3"},
    ),
    Case(
        "keys: that nobody sees",
        {"type": "object"},
        {"": "1", " ": "2", "\u200b": "3", "\u202ex": "4"},
    ),
    Case("keys: very long", {"type": "object"}, {"k" * 5_000: "1"}),
    Case(
        "keys: odd ones in a map",
        {"additionalProperties": {"type": "string"}},
        {"": "1", " a ": "2", "a/b@c": "3", "é": "4", "k\n": "5"},
    ),
]
