"""Colours for code, by Pygments."""

import time
from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

#: Longer code, and code in other languages, has no colours. The lexers need quadratic time for some
#: texts; in these languages they can be stopped after each token (not so in ini files).
MAX_CHARACTERS = 20_000
_LANGUAGES = {
    "bash", "css", "diff", "go", "html", "java", "javascript", "json", "python", "ruby",
    "rust", "sql", "toml", "typescript", "xml", "yaml",
}  # fmt: skip
#: The classes of app.css by the beginning of Pygments' names of tokens.
_CLASSES = (
    ("Token.Comment", "hl-c"),
    ("Token.Keyword", "hl-k"),
    ("Token.Literal.String", "hl-s"),
    ("Token.Literal.Number", "hl-n"),
    ("Token.Name.Tag", "hl-k"),
    ("Token.Name.Function", "hl-f"),
    ("Token.Name.Builtin", "hl-f"),
)


def highlighted(text: str, language: str, *, seconds: float = 1) -> SafeString:
    """
    Return code as HTML with a span around each coloured token; the text is unchanged.

    It has no colours if they take longer than `seconds`.
    """
    if language not in _LANGUAGES or len(text) > MAX_CHARACTERS:
        return format_html("{}", text)
    try:
        tokens = _tokens(text, language, _Deadline(time.perf_counter() + seconds))
    except TimeoutError:
        return format_html("{}", text)
    parts = [
        (format_html('<span class="{}">{}</span>', name, value),) if name else (value,)
        for name, value in tokens
    ]
    return format_html_join("", "{}", parts)


@dataclass(frozen=True)
class _Deadline:
    """All deadlines are equal, so that the cache finds what was made before another one."""

    at: float = field(compare=False)


@lru_cache(maxsize=200)
def _tokens(text: str, language: str, deadline: _Deadline) -> list[tuple[str, str]]:
    """Raises TimeoutError, which the cache does not keep."""
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - slow to import, seldom needed

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    tokens: list[tuple[str, str]] = []
    for kind, value in lexer.get_tokens(text):
        if time.perf_counter() > deadline.at:
            raise TimeoutError
        name = next((name for start, name in _CLASSES if str(kind).startswith(start)), "")
        if tokens and tokens[-1][0] == name:
            tokens[-1] = (name, tokens[-1][1] + value)
        else:
            tokens.append((name, value))
    if "".join(value for _, value in tokens) != text:
        return [("", text)]
    return tokens
