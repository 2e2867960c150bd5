"""The documentation in the product: pages of docs/, rendered on the server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_noop
from markdown_it import MarkdownIt
from markdown_it.token import Token

from inbox.rules.errors import NotFound
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, show

#: The pages that people who work with Signoff need, by file, in the order of the list.
PAGES = {
    "inbox": gettext_noop("Decide requests"),
    "forms": gettext_noop("Forms"),
    "files": gettext_noop("Files"),
    "notifications": gettext_noop("Notifications"),
    "audit": gettext_noop("Audit"),
    "policies": gettext_noop("Policies"),
    "teams": gettext_noop("Teams"),
    "signin": gettext_noop("Sign-in"),
    "agents": gettext_noop("Agents"),
    "rehearsal": gettext_noop("The demo agent"),
    "ask": gettext_noop("Requests of programs"),
    "clients": gettext_noop("Clients for Python and TypeScript"),
    "coding-agents": gettext_noop("Coding agents"),
    "mcp": gettext_noop("MCP server"),
    "api": gettext_noop("REST API"),
    "webhooks": gettext_noop("Webhooks"),
    "troubleshooting": gettext_noop("Troubleshooting"),
}


@dataclass(frozen=True)
class _Document:
    title: str
    html: SafeString


@page
def help_page(request: HttpRequest, actor: Actor, name: str) -> HttpResponse:
    if name not in PAGES:
        raise NotFound
    context: dict[str, Any] = {
        "document": _document(name),
        "pages": [(key, label, key == name) for key, label in PAGES.items()],
    }
    return show(request, actor, "base/help.html", context, section="help")


@lru_cache
def _document(name: str) -> _Document:
    # HTML in the text stays text, so that the pages need no sanitizer.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(Path(settings.BASE_DIR, "docs", f"{name}.md").read_text())
    title = tokens[1].content if tokens and tokens[0].type == "heading_open" else name
    body = _without_images(tokens[3:])
    for index, token in enumerate(body):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(body[index + 1].content))
        _adapt_links(token.children or ())
    html = markdown.renderer.render(body, markdown.options, {})
    return _Document(title, mark_safe(html))  # noqa: S308 - our own documents, without HTML


def _without_images(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without the paragraphs and tables of pictures, which are not served."""
    blocks: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            blocks.append([])
        blocks[-1].append(token)
        depth += token.nesting
    return [token for block in blocks if not any(map(_has_image, block)) for token in block]


def _has_image(token: Token) -> bool:
    # A picture in two themes is HTML, which would be displayed as text.
    is_picture = token.type == "inline" and token.content.startswith("<picture>")
    return is_picture or any(child.type == "image" for child in token.children or ())


def _adapt_links(tokens: Iterable[Token]) -> None:
    """Lead links to where the pages are here; a link to another file is its text."""
    is_text = False
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrGet("href"))
            file, mark, anchor = href.partition("#")
            name = file.removesuffix(".md")
            is_text = bool(file) and name not in PAGES and not href.startswith("https://")
            if name in PAGES:
                token.attrSet("href", f"{reverse('help_page', args=[name])}{mark}{anchor}")
        if token.type in ("link_open", "link_close") and is_text:
            token.tag, token.attrs = "span", {}


def _anchor(heading: str) -> str:
    """Return the id that links in the documents use, as on GitHub."""
    words = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return words.replace(" ", "-")
