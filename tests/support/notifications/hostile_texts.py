"""Texts that agents could use to imitate, mention, link, format or break a message."""

from itertools import product

_MENTIONS = (
    "<!channel>",
    "<!here|here>",
    "<!everyone>",
    "<@U012AB3CD>",
    "<#C123ABC|general>",
    "<!subteam^SAZ94GDB8>",
    "@everyone",
    "@here",
    "@channel",
    "@all",
    "<@&1234567890>",
    "<@1234567890>",
    "<at>Ana</at>",
)
_LINKS = (
    "https://evil.example/x",
    "http://evil.example",
    "www.evil.example",
    "evil.example",
    "<https://evil.example|Open the request>",
    "[Open the request](https://evil.example)",
    "![](https://evil.example/pixel.png)",
    "mailto:a@evil.example",
    "a@evil.example",
    "javascript:alert(1)",
    "slack://open",
    "ftp://evil.example",
)
_FORMATS = (
    "*bold* _it_ ~st~ `code`",
    "```\nblock\n```",
    "# Title",
    "> quote",
    "- item\n- item",
    ":rotating_light:",
    "||spoiler||",
    "{{DATE(2026-01-01T00:00:00Z)}}",
    "<b>bold</b><img src=x onerror=alert(1)>",
    "&lt;!channel&gt;",
    "\u202eevil",
    "a\u200bb",
    "\x00",
    "line\r\nSubject: other",
    "tab\tquote\"'",
    "\ud7ff\uffff",
    "\U0001d54a\U0001d55a\U0001d558\U0001d55f",
    "é" * 400,
    "x" * 100_000,
    "`",
    "\\",
)
_AROUND = ("{}", "pay {} now", "`{}`", "*{}*", "{} {}")

#: More than 200 texts.
HOSTILE_TEXTS = [
    around.replace("{}", text)
    for around, text in product(_AROUND, (*_MENTIONS, *_LINKS, *_FORMATS))
]
