"""Rejection of body members and query parameters that an operation does not know."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any, get_args

from django.http import QueryDict
from pydantic import BaseModel

from inbox.rules.errors import InvalidInput, UnknownName

#: Unknown names for which the nearest one is looked for: a body may have many thousands.
MOST_EXPLAINED = 10


def check_parameters(query: QueryDict, known_names: Collection[str]) -> None:
    """
    Raise unless an operation knows each parameter of a query, and none is repeated.

    A parameter that is ignored widens a list: a program would decide the requests of others.

    Raises:
        UnknownName, InvalidInput.
    """
    unknown = [name for name in query if name not in known_names][:MOST_EXPLAINED]
    if unknown:
        problems = {name: [unknown_text(name, known_names)] for name in unknown}
        raise UnknownName(
            f"Query parameter `{unknown[0]}`: {problems[unknown[0]][0]}", problems=problems
        )
    repeated = [name for name, values in query.lists() if len(values) > 1]
    if repeated:
        raise InvalidInput(f"Query parameter `{repeated[0]}` is repeated; send it once.")


def unknown_text(name: str, known_names: Collection[str]) -> str:
    """Return a sentence that names the nearest known name, or all known ones if none is near."""
    if not known_names:
        return "Unknown name. There are none here."
    by_plain = {_plain(each): each for each in known_names}
    near = get_close_matches(_plain(name), by_plain, n=1, cutoff=0.5)
    if near:
        return f"Unknown name. Did you mean `{by_plain[near[0]]}`?"
    return f"Unknown name. Known are: {', '.join(sorted(known_names))}."


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def names_at(model: type[BaseModel], place: Collection[str | int]) -> set[str]:
    """Return the members of the models at a place of a body, as pydantic's errors name it."""
    models = [model]
    for step in place:
        # Indexes of lists and tags of unions lead to models that are known already.
        fields = [each.model_fields[step] for each in models if step in each.model_fields]
        models = [each for field in fields for each in _models_in(field.annotation)] or models
    return {name for each in models for name in each.model_fields}


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
