"""A check of the names that templates read: Django renders an unknown one as nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.template.base import Variable, VariableDoesNotExist

#: Variables that pages set only when they need them, and parameters of included templates.
OPTIONAL = {
    *("also", "call", "class", "code", "complete", "email", "field", "first", "heading", "help"),
    *(
        "is_all_seen",
        "is_similar",
        "kind",
        "link",
        "list_selects",
        "messages",
        "more",
        "most",
        "next",
        "note",
    ),
    *("nothing", "notice", "optional", "options", "page", "primary", "problem", "shareable_teams"),
    *("thread", "type"),
}


@contextmanager
def unknown_names() -> Iterator[set[str]]:
    """
    Collect the names that this project's templates read and that do not exist.

    Members of None, of an empty text and of a mapping may be missing, such as `problems.name`.
    """
    unknown: set[str] = set()
    original: Any = Variable._resolve_lookup

    def resolve(variable: Any, context: Any) -> Any:
        try:
            return original(variable, context)
        except VariableDoesNotExist as error:
            name = str(variable.var)
            if _is_ours(context) and not _is_tolerated(variable, error, context):
                unknown.add(f"{_template_of(context)}: {name}")
            raise

    Variable._resolve_lookup = resolve  # type: ignore[method-assign]
    try:
        yield unknown
    finally:
        Variable._resolve_lookup = original  # type: ignore[method-assign]


def _is_tolerated(variable: Any, error: VariableDoesNotExist, context: Any) -> bool:
    if variable.lookups[0] not in context:
        return variable.lookups[0] in OPTIONAL
    _, owner = error.params
    return owner is None or owner == "" or isinstance(owner, Mapping)


def _template_of(context: Any) -> str:
    template = context.render_context.template
    return str(template.origin.template_name) if template else ""


def _is_ours(context: Any) -> bool:
    template = context.render_context.template
    if template is None or template.origin.template_name.startswith("admin/"):
        return False
    return str(template.origin.name).startswith(str(settings.BASE_DIR / "templates"))
