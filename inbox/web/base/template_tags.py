"""The template tags and filters of the pages."""

import json
import re
from collections.abc import Hashable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any

from django import template
from django.forms import BoundField
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import get_language
from lucide.templatetags import lucide as drawn

from inbox.rules.decisions.change_summary import SummaryLine
from inbox.rules.people.avatars import avatar_colour, initials
from inbox.rules.presentations.code import DiffView, parse_patch
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.days import absolute_text, time_text, today
from inbox.web.base.numbers import amount_text, number_text
from inbox.web.base.theme import Theme, cookie_name
from inbox.web.presentations.highlighting import highlighted
from inbox.web.presentations.markup_time import markup_time
from inbox.web.presentations.safe_markdown import markdown_html

register = template.Library()

#: Icons with a direction; mirrored in right-to-left languages.
_TURNING = {"arrow-left", "arrow-right", "log-out", "list-filter", "rotate-ccw", "send", "undo-2"}

#: Attributes that the style decision_form sets on every `svg`: a tenth of a page's bytes.
_NEEDLESS = re.compile(
    r' fill="none"(?= stroke)| stroke="currentColor"| stroke-line(?:cap|join)="round"'
    r"|\s*\n\s*| (?=/>)"
)
#: From its `<`, which no text has: the start of an element, its time and its kind; and its words.
_TIME = re.compile(r'(<time\s+datetime="([^"]+)"\s+data-as="(\w+)"[^>]*>)[^<]*')
#: Two paths can be joined if the second begins with an absolute move.
_TWO_LINES = re.compile(r'(<path d="[^"]*)"/><path d="(?=M)')


@register.simple_tag
@lru_cache(maxsize=500)
def lucide(name: str, *, size: int = 24, **attributes: str) -> SafeString:
    """Return an icon's markup; the library's own tag would serialize a tree each time."""
    if name in _TURNING:
        attributes["class"] = "turns"
    markup = str(drawn.lucide(name, size=size, **attributes))
    markup, left = _NEEDLESS.sub("", markup), 1
    while left:
        markup, left = _TWO_LINES.subn(r"\1", markup)
    return mark_safe(markup)  # noqa: S308 - the library's own


@register.simple_tag
def moment(at: datetime, kind: str) -> SafeString:
    """Render `components/time.html`, for use as a variable of a `blocktranslate`."""
    # The end of the file's last line would be a space before a full stop.
    return mark_safe(render_to_string("components/time.html", {"at": at, "as": kind}).strip())  # noqa: S308


@register.simple_tag
def rendered_once(template: str, row: Hashable = None) -> SafeString:
    """
    Render a row of a list, or a drop-down, once for all people and requests that display the same.

    The template may read nothing but the row, whose fields are compared by value. Times move on.
    """
    # A day has its year unless it is this one.
    display = (get_language(), get_current_timezone_name(), today().year)
    markup = _rendered_once(template, row, display)
    return mark_safe(_TIME.sub(_current_time, markup))  # noqa: S308 - of a template


def _current_time(time: re.Match[str]) -> str:
    start, at, kind = time.groups()
    return start + time_text(datetime.fromisoformat(at), kind)


@lru_cache(maxsize=1000)
def _rendered_once(template: str, row: Hashable, display: tuple[str, str, int]) -> SafeString:
    return render_to_string(template, {"row": row})


@register.simple_tag
def avatar(user_id: int, name: str) -> SafeString:
    """Render the initials of a user."""
    markup = '<span class="av av-{}" aria-hidden="true">{}</span>'
    return format_html(markup, avatar_colour(user_id), initials(escape_invisible(name)))


#: Characters of controls that say no `maxlength`, by their kind.
_LONGEST = {"url": 2000, "password": 4096, "email": 254}


@register.simple_block_tag(end_name="endfield")
def field(  # noqa: PLR0913 - each is an attribute of an element
    content: SafeString,
    name: str | BoundField,
    label: str,
    *,
    value: object = None,
    problem: object = "",
    kind: str = "text",
    options: Iterable[Any] | None = None,
    blank: str | None = None,
    rows: int = 0,
    maxlength: int | None = None,
    required: bool = False,
    optional: bool = False,
    placeholder: str = "",
    datalist: str = "",
    autofocus: bool = False,
    autocomplete: str = "off",
    element: str = "",
) -> SafeString:
    """
    Render a label with its control, problem and help, which is the content of the block.

    The control is a drop-down of `options`, a text area of so many `rows`, or an input whose `kind`
    is text, code, url, number or a type of HTML. An option is a text, a value and its words, or
    these and whether it is chosen; `blank` has the words for no value. `element` is the id of the
    control, if it is not `f-` and the name. A field of a form of Django brings its name, value and
    problem with it.
    """
    if isinstance(name, BoundField):
        bound = name
        value, problem = bound.value(), " ".join(str(each) for each in bound.errors)
        name, element = bound.html_name, bound.id_for_label
        autofocus = autofocus or bool(problem)
    if kind == "password":
        value = ""
    element = element or f"f-{name}"
    help_text = mark_safe(content.strip())  # noqa: S308 - rendered by the template
    described = [f"{element}-help"] * bool(help_text) + [f"{element}-err"] * bool(problem)
    values = {
        "element": element,
        "name": name,
        "label": label,
        "help": help_text,
        "problem": problem,
        "described": " ".join(described),
        "kind": kind,
        # As texts: numbers would get the separators of the reader's language.
        "value": "" if value is None else str(value),
        "options": None if options is None else [_option(each, value) for each in options],
        "blank": blank,
        "rows": rows,
        "maxlength": maxlength or _LONGEST.get(kind, 0 if rows else 200),
        "required": required,
        "optional": optional,
        "placeholder": placeholder,
        "datalist": datalist,
        "autofocus": autofocus,
        "autocomplete": autocomplete,
    }
    return render_to_string("components/field.html", values)


def _option(option: Any, value: object) -> tuple[str, object, bool]:
    """Return the value and the words of an option, and whether it is chosen."""
    of_option, words, *chosen = option if isinstance(option, tuple) else (option, option)
    return str(of_option), words, chosen[0] if chosen else str(of_option) == str(value)


@register.simple_tag(takes_context=True)
def chosen_theme(context: template.Context) -> str:
    """Return "light" or "dark", "" for the theme of the system; pages of errors have no request."""
    request = context.get("request")
    theme = request.COOKIES.get(cookie_name(), "") if request else ""
    return theme if theme in set(Theme) else ""


@register.simple_tag(takes_context=True)
def chosen_zone(context: template.Context) -> str:
    """Return the time zone that the reader has chosen, "" without a choice."""
    return getattr(context.get("request"), "chosen_zone", "")


@register.filter
def as_json(value: object) -> str:
    """Return JSON; not marked safe, so the template escapes it."""
    return json.dumps(value)


@register.simple_tag
def patch(text: str) -> DiffView:
    """Return a unified diff as rows."""
    return parse_patch(text)


@register.simple_tag(takes_context=True)
def highlight(context: template.Context, text: str, language: str) -> SafeString:
    """Return code with colours, by its language."""
    with markup_time(getattr(context, "request", None)) as seconds:
        return highlighted(text, language, seconds=seconds)


@register.simple_tag(takes_context=True)
def safe_markdown(context: template.Context, text: str) -> SafeString | None:
    """Return Markdown as HTML, None if it is too long or the page has no time left."""
    with markup_time(getattr(context, "request", None)) as seconds:
        return markdown_html(text) if seconds > 0 else None


#: Makes invisible characters visible: for every text of people and agents.
register.filter("visible", escape_invisible)


#: A time as pages write its kind, and what a relative one becomes.
register.filter("time_text", time_text)
register.filter("absolute_text", absolute_text)

#: A count in the reader's format.
register.filter("number", number_text)


@register.filter
def changed_text(text: str, line: SummaryLine) -> str:
    """Return one side of a change; numbers are in the reader's format."""
    return amount_text(text, line.unit) if line.is_number else text


#: The JSON text of a number with its unit, in the reader's format.
register.filter("amount", amount_text)
