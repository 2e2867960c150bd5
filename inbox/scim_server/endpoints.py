"""SCIM 2.0 (RFC 7643, RFC 7644): users, groups, and what the server supports."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.http import parse_etags
from pydantic import ValidationError
from scim2_models import (
    Context,
    Error,
    ListResponse,
    PatchOp,
    Resource,
    ResponseParameters,
    SCIMException,
    SearchRequest,
    TooManyException,
)
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    FilterVisitor,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

from agents.agui.strict_json import Limits
from inbox.actions.directories import directory_groups, directory_people
from inbox.api.base.parsers import body_of_json, parse_json
from inbox.queries.directories.directory_people import (
    Narrowing,
    group_of,
    groups_of,
    people_of,
    person_of,
)
from inbox.rules.errors import Forbidden, InvalidInput, NotFound, PreconditionFailed
from inbox.rules.people.access import Actor
from inbox.scim_server import resources
from inbox.scim_server.messages import SCIM_JSON, scim_error, scim_response
from inbox.scim_server.resources import CONFIG, MAX_RESULTS, PROVIDER, Group, User

#: Resources that one search compares in memory; filters by id or name read far fewer.
MAX_CANDIDATES: Final = 2_000
MAX_QUERY_CHARACTERS: Final = 2_000
MAX_OPERATIONS: Final = 1_000
MAX_INDEX: Final = 2**31
#: A group has thousands of members, each an object of a few values.
_LIMITS: Final = Limits(max_nodes=50_000)

Edit = Callable[[Any], Any]


@dataclass(frozen=True)
class Exchange:
    """A request of a directory."""

    request: HttpRequest
    actor: Actor
    site: str  #: URL of the endpoints, without a slash at the end

    @property
    def body(self) -> Any:
        """Raises InvalidInput, TooLarge, UnsupportedMedia."""
        text = body_of_json(self.request, (SCIM_JSON, "application/json"))
        body = parse_json(text, limits=_LIMITS)
        if not isinstance(body, dict):
            raise InvalidInput("Send a JSON object.")
        return body

    @property
    def query(self) -> dict[str, str]:
        """Raises InvalidInput."""
        query = {name: str(self.request.GET[name]) for name in self.request.GET}
        _check_lengths(query)
        return query

    def check_version(self, resource: Resource[Any]) -> None:
        """Raise PreconditionFailed unless If-Match has the version; called under the lock."""
        etags = {_weak(etag) for etag in parse_etags(self.request.headers.get("If-Match", ""))}
        if etags and not etags & {"*", _weak(_version(resource))}:
            raise PreconditionFailed("This was changed in the meantime: read it again.")


@dataclass(frozen=True)
class Kind:
    """Users or groups: their rows as resources, and the actions that change them."""

    model: type[Resource[Any]]
    rows: Callable[..., Any]
    row: Callable[[Actor, str], Any]
    from_rows: Callable[[Any, str], list[Any]]
    add: Callable[[Any, Actor], Any]
    described: Callable[[Any, Any], Any]  #: what an edited resource says; of its row
    change: Callable[[str, Callable[[Any], Any], Actor], Any]
    remove: Callable[[str, Callable[[Any], object], Actor], None]
    #: Groups may have thousands of members, which a response to a small change need not repeat.
    is_patch_echoed: bool


def respond(exchange: Exchange, endpoint: str, resource_id: str = "") -> HttpResponse:
    """Respond to a request at an endpoint, in the policy of this server."""
    method = exchange.request.method or ""
    operations = _OPERATIONS.get((endpoint, bool(resource_id)), {})
    if not operations:
        raise NotFound()
    if method not in operations:
        allow = {"Allow": ", ".join(sorted(operations))}
        return scim_error(405, f"This address has no {method}.", headers=allow)
    with PROVIDER:
        try:
            return operations[method](exchange, endpoint, resource_id)
        except ValidationError as error:
            return _response_to(Error.from_validation_error(error.errors()[0]))
        except SCIMException as error:
            return _response_to(error.to_error())


def _response_to(error: Error) -> HttpResponse:
    return scim_error(error.status or 400, error.detail or "", error.scim_type or "")


# -- users and groups -----------------------------------------------------------------------------


def _list(exchange: Exchange, endpoint: str, _id: str) -> HttpResponse:
    kinds = [_KINDS[endpoint]]
    return _search(
        exchange, kinds, _parameterized(SearchRequest, kinds).model_validate(exchange.query)
    )


def _search_by_post(exchange: Exchange, endpoint: str, _id: str) -> HttpResponse:
    """Search as `_list` does, with the parameters in a body (RFC 7644, section 3.4.3)."""
    name, _, _ = endpoint.rpartition("/")
    kinds = [_KINDS[name]] if name else list(_KINDS.values())
    body = exchange.body
    _check_lengths(body)
    request = _parameterized(SearchRequest, kinds)
    return _search(exchange, kinds, request.model_validate(body, scim_ctx=Context.SEARCH_REQUEST))


def _search(exchange: Exchange, kinds: Sequence[Kind], search: Any) -> HttpResponse:
    first = min(search.start_index or 1, MAX_INDEX) - 1
    count = MAX_RESULTS if search.count is None else min(search.count, MAX_RESULTS)
    if search.filter is None and search.sort_by is None and len(kinds) == 1:
        (kind,) = kinds
        rows = kind.rows(exchange.actor)
        total = rows.count()
        page = kind.from_rows(list(rows[first : first + count]), exchange.site) if count else []
    else:
        matches = _matches(exchange, kinds, search)
        total, page = len(matches), matches[first : first + count]
    response = _parameterized(ListResponse, kinds)(
        total_results=total, start_index=first + 1, items_per_page=len(page), resources=page
    )
    return scim_response(
        response.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=search)
    )


def _matches(exchange: Exchange, kinds: Sequence[Kind], search: Any) -> list[Any]:
    narrowing = Narrowing()
    if search.filter is not None:
        narrowing = replace(narrowing, **_Narrow().visit(search.filter.ast))
    matches: list[Any] = []
    for kind in kinds:
        rows = list(kind.rows(exchange.actor, narrowing)[: MAX_CANDIDATES + 1])
        if len(rows) > MAX_CANDIDATES:
            raise TooManyException(
                detail=f"This searches more than {MAX_CANDIDATES} resources. Filter by id, "
                "userName, externalId or members with eq."
            )
        matches += kind.from_rows(rows, exchange.site)
    if search.filter is not None:
        matches = [resource for resource in matches if search.filter.match(resource)]
    return list(search.sort(matches))


class _Narrow(FilterVisitor[dict[str, str]]):
    """Collect the values that every match of a filter has in the columns with an index."""

    def visit_comparison(self, node: Comparison) -> dict[str, str]:
        path = node.attr_path
        name = f"{path.attr}.{path.sub_attr}" if path.sub_attr else path.attr
        column = _COLUMNS.get(name.lower())
        if column is None or node.op != CompareOperator.eq or not _is_text(node.value):
            return {}
        return {column: node.value}

    def visit_logical_expr(self, node: LogicalExpr) -> dict[str, str]:
        if node.op != LogicalOperator.and_:
            return {}
        return {name: text for term in node.terms for name, text in self.visit(term).items()}

    def visit_value_path(self, node: ValuePath) -> dict[str, str]:
        inner: FilterNode = node.val_filter
        if not isinstance(inner, Comparison):
            return {}
        path = AttrPath(attr=node.attr_path.attr, sub_attr=inner.attr_path.attr)
        return self.visit_comparison(Comparison(attr_path=path, op=inner.op, value=inner.value))

    def visit_not(self, node: Not) -> dict[str, str]:
        return {}

    def visit_present(self, node: Present) -> dict[str, str]:
        return {}


def _is_text(value: Any) -> bool:
    """Return whether a value is a text that the database can compare."""
    return isinstance(value, str) and value.isprintable()


_COLUMNS: Final = {
    "id": "id",
    "externalid": "external_id",
    "username": "user_name",
    "members": "member",
    "members.value": "member",
}


def _get(exchange: Exchange, endpoint: str, resource_id: str) -> HttpResponse:
    kind = _KINDS[endpoint]
    (resource,) = kind.from_rows([kind.row(exchange.actor, resource_id)], exchange.site)
    known_etags = parse_etags(exchange.request.headers.get("If-None-Match", ""))
    if _weak(_version(resource)) in map(_weak, known_etags):
        return HttpResponse(status=304, headers={"ETag": _version(resource)})
    return _resource_response(
        resource, _parameters(exchange, kind), Context.RESOURCE_QUERY_RESPONSE
    )


def _post(exchange: Exchange, endpoint: str, _id: str) -> HttpResponse:
    kind = _KINDS[endpoint]
    resource = kind.model.model_validate(exchange.body, scim_ctx=Context.RESOURCE_CREATION_REQUEST)
    parameters = _parameters(exchange, kind)
    row = kind.add(resource, exchange.actor)
    (created,) = kind.from_rows([row], exchange.site)
    return _resource_response(created, parameters, Context.RESOURCE_CREATION_RESPONSE, status=201)


def _put(exchange: Exchange, endpoint: str, resource_id: str) -> HttpResponse:
    kind = _KINDS[endpoint]
    body, parameters = exchange.body, _parameters(exchange, kind)

    def edit(original: Any) -> Any:
        replacement = kind.model.model_validate(body, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
        replacement.replace(original)
        if isinstance(replacement, User) and replacement.active is None:
            replacement.active = original.active
        return replacement

    row = _change(exchange, kind, resource_id, edit)
    (changed,) = kind.from_rows([row], exchange.site)
    return _resource_response(changed, parameters, Context.RESOURCE_REPLACEMENT_RESPONSE)


def _patch(exchange: Exchange, endpoint: str, resource_id: str) -> HttpResponse:
    kind = _KINDS[endpoint]
    patch = _parameterized(PatchOp, [kind]).model_validate(
        _without_nulls(exchange.body), scim_ctx=Context.RESOURCE_PATCH_REQUEST
    )

    parameters = _parameters(exchange, kind)

    def edit(resource: Any) -> Any:
        patch.patch(resource)
        return resource

    row = _change(exchange, kind, resource_id, edit)
    if not kind.is_patch_echoed and not parameters.attributes:
        return HttpResponse(status=204)
    (changed,) = kind.from_rows([row], exchange.site)
    return _resource_response(changed, parameters, Context.RESOURCE_PATCH_RESPONSE)


def _without_nulls(body: dict[str, Any]) -> dict[str, Any]:
    """
    Return the body of a PATCH without nulls in the objects that it lists as values.

    Microsoft Entra ID removes members by `{"$ref": null, "value": "..."}`; null says nothing there.

    Raises:
        InvalidInput: there are too many operations.
    """
    cleaned = {}
    for name, operations in body.items():
        if name.lower() == "operations" and isinstance(operations, list):
            if len(operations) > MAX_OPERATIONS:
                raise InvalidInput(f"A PATCH has up to {MAX_OPERATIONS} operations.")
            cleaned[name] = [_cleaned(each) for each in operations]
        else:
            cleaned[name] = operations
    return cleaned


def _cleaned(operation: Any) -> Any:
    values = operation.get("value") if isinstance(operation, dict) else None
    if not isinstance(values, list):
        return operation
    cleaned = [
        {name: item for name, item in value.items() if item is not None}
        if isinstance(value, dict)
        else value
        for value in values
    ]
    return {**operation, "value": cleaned}


def _delete(exchange: Exchange, endpoint: str, resource_id: str) -> HttpResponse:
    kind = _KINDS[endpoint]
    kind.remove(resource_id, partial(_current, exchange, kind), exchange.actor)
    return HttpResponse(status=204)


def _change(exchange: Exchange, kind: Kind, resource_id: str, edit: Edit) -> Any:
    """Edit a resource, as it is under the lock; return its row."""

    def change(row: Any) -> Any:
        return kind.described(edit(_current(exchange, kind, row)), row)

    return kind.change(resource_id, change, exchange.actor)


def _current(exchange: Exchange, kind: Kind, row: Any) -> Any:
    """Return a locked row as a resource. Raises PreconditionFailed."""
    (resource,) = kind.from_rows([row], exchange.site)
    exchange.check_version(resource)
    return resource


def _parameters(exchange: Exchange, kind: Kind) -> Any:
    """Return which attributes of a resource to send. Raises ValidationError, before a change."""
    names = ("attributes", "excludedAttributes")
    query = {name: text for name, text in exchange.query.items() if name in names}
    return _parameterized(ResponseParameters, [kind]).model_validate(query)


def _resource_response(
    resource: Any, parameters: Any, context: Context, status: int = 200
) -> HttpResponse:
    body = resource.model_dump(scim_ctx=context, response_parameters=parameters)
    headers = {"ETag": _version(resource), "Location": resource.meta.location}
    return scim_response(body, status=status, headers=headers)


def _check_lengths(parameters: Mapping[str, Any]) -> None:
    """Raise InvalidInput if a parameter of a search is too long."""
    if any(len(str(value)) > MAX_QUERY_CHARACTERS for value in parameters.values()):
        raise InvalidInput(f"A parameter has up to {MAX_QUERY_CHARACTERS} characters.")


def _parameterized(message: Any, kinds: Iterable[Kind]) -> Any:
    """Return a message of the library for kinds; its type parameter is no type for mypy here."""
    return message.__class_getitem__(reduce(or_, (kind.model for kind in kinds)))


def _version(resource: Resource[Any]) -> str:
    return (resource.meta.version if resource.meta else None) or ""


def _weak(etag: str) -> str:
    return etag.removeprefix("W/")


def _add_person(user: User, actor: Actor) -> Any:
    user.active = user.active is not False
    return directory_people.add_person(person=resources.person_from(user), actor=actor)


def _add_group(group: Group, actor: Actor) -> Any:
    return directory_groups.add_group(group=resources.group_from(group), actor=actor)


_KINDS: Final = {
    "Users": Kind(
        model=User,
        rows=people_of,
        row=person_of,
        from_rows=resources.users_from,
        add=_add_person,
        described=lambda user, row: resources.person_from(user, was_active=row.is_active),
        change=lambda person_id, change, actor: directory_people.change_person(
            person_id=person_id, change=change, actor=actor
        ),
        remove=lambda person_id, check, actor: directory_people.remove_person(
            person_id=person_id, check=check, actor=actor
        ),
        is_patch_echoed=True,
    ),
    "Groups": Kind(
        model=Group,
        rows=groups_of,
        row=group_of,
        from_rows=resources.groups_from,
        add=_add_group,
        described=lambda group, _row: resources.group_from(group),
        change=lambda group_id, change, actor: directory_groups.change_group(
            group_id=group_id, change=change, actor=actor
        ),
        remove=lambda group_id, check, actor: directory_groups.remove_group(
            group_id=group_id, check=check, actor=actor
        ),
        is_patch_echoed=False,
    ),
}

# -- what the server supports ---------------------------------------------------------------------


def _discover(exchange: Exchange, endpoint: str, resource_id: str) -> HttpResponse:
    if "filter" in exchange.query:  # RFC 7644, section 4
        raise Forbidden("This endpoint has no filter.")
    documents = _documents(exchange.site)[endpoint]
    if endpoint == "ServiceProviderConfig":
        return scim_response(documents[""])
    if not resource_id:
        return scim_response(
            {
                "schemas": [str(ListResponse.__schema__)],
                "totalResults": len(documents),
                "startIndex": 1,
                "itemsPerPage": len(documents),
                "Resources": list(documents.values()),
            }
        )
    document = documents.get(resource_id)
    if document is None:
        raise NotFound()
    return scim_response(document)


def _documents(site: str) -> Mapping[str, Mapping[str, Any]]:
    return {
        "ServiceProviderConfig": {"": _document(CONFIG, f"{site}/ServiceProviderConfig")},
        "ResourceTypes": {
            str(each.id): _document(each, f"{site}/ResourceTypes/{each.id}")
            for each in PROVIDER.resource_types
        },
        "Schemas": {
            str(each.id): _document(each, f"{site}/Schemas/{each.id}") for each in PROVIDER.schemas
        },
    }


def _document(resource: Any, location: str) -> dict[str, Any]:
    dump: dict[str, Any] = resource.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
    return {**dump, "meta": {"resourceType": type(resource).__name__, "location": location}}


_OPERATIONS: Final[
    dict[tuple[str, bool], dict[str, Callable[[Exchange, str, str], HttpResponse]]]
] = {
    **{(name, False): {"GET": _list, "POST": _post} for name in _KINDS},
    **{
        (name, True): {"GET": _get, "PUT": _put, "PATCH": _patch, "DELETE": _delete}
        for name in _KINDS
    },
    **{(f"{name}/.search", False): {"POST": _search_by_post} for name in _KINDS},
    (".search", False): {"POST": _search_by_post},
    ("ServiceProviderConfig", False): {"GET": _discover},
    **{
        (name, has_id): {"GET": _discover}
        for name in ("ResourceTypes", "Schemas")
        for has_id in (False, True)
    },
}
