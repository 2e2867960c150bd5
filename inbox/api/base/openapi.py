"""The API, described by OpenAPI 3.1: `/api/schema` for programs, `/api/docs/` for people."""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, count
from threading import Lock
from typing import Annotated, Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.settings import spectacular_settings
from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from rest_framework.views import APIView

from inbox.api.base.error_responses import json_response
from inbox.api.base.field_types import example
from inbox.api.base.known_names import check_parameters
from inbox.api.base.openapi_descriptions import TextBody, describe_operation, name_of
from inbox.api.base.openapi_examples import example_of
from inbox.api.base.schema import Schema
from inbox.api.runs.streaming_urls import streaming_urlpatterns
from inbox.rules.errors import RequestRejected

_JSON, _YAML = "application/json", "application/yaml"
_KINDS: Final = {
    _JSON: _JSON,
    "application/vnd.oai.openapi+json": _JSON,
    _YAML: _YAML,
    "application/vnd.oai.openapi": _YAML,
}


class OpenApiDocument(Schema):
    model_config = ConfigDict(extra="allow")

    openapi: Annotated[str, example("3.1.0")]


_generating = Lock()


@describe_operation(
    "GET",
    "Read this description, as JSON or as YAML",
    {200: (OpenApiDocument, TextBody(_YAML, "The same document.", "openapi: 3.1.0\n"))},
    tag="schema",
    scope=None,
    description="Send `Accept: application/yaml` for YAML.",
    negotiates=False,
)
@require_safe
def get_schema(request: HttpRequest) -> HttpResponse:
    try:
        check_parameters(request.GET, ())
    except RequestRejected as refusal:
        return json_response(refusal)
    content_type = request.get_preferred_type(list(_KINDS)) or _JSON
    response = HttpResponse(_text(_KINDS[content_type]), content_type=content_type)
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
@ensure_csrf_cookie
def api_docs(request: HttpRequest) -> HttpResponse:
    return render(request, "api/docs.html", {"operations": _operations()})


@cache
def _operations() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return method, path and summary of each operation, by tag, to read before the viewer is."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for path, methods in describe_api()["paths"].items():
        for method, described in methods.items():
            line = (method.upper(), path, described.get("summary", ""))
            groups.setdefault(described["tags"][0], []).append(line)
    return list(groups.items())


@cache
def _text(kind: str) -> bytes:
    """Return the document; it is the same for every caller until the process ends."""
    if kind == _JSON:
        return json.dumps(describe_api(), separators=(",", ":")).encode()
    text: bytes = OpenApiYamlRenderer().render(describe_api())
    return text


def describe_api() -> dict[str, Any]:
    """Return the document, which takes most of a second, once per process."""
    with _generating:  # drf-spectacular and pydantic are not thread-safe here
        return _description()


@cache
def _description() -> dict[str, Any]:
    schema: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    return schema


def add_functions(endpoints: list[Any]) -> list[Any]:
    """Add the views that are functions (a hook of drf-spectacular)."""
    functions: list[tuple[str, Any]] = [
        (str(url.pattern), getattr(url.callback, "view", None))
        for url in streaming_urlpatterns
        if not str(url.pattern).endswith("/")  # another form of an address without it
    ]
    paths = EndpointEnumerator(patterns=[])
    for route, function in (*functions, ("api/schema", get_schema)):
        method = function.http_method
        as_class: Any = type("View", (APIView,), {method.lower(): staticmethod(function)})
        endpoints.append((paths.get_path_from_regex(route), route, method, as_class.as_view()))
    return endpoints


def add_webhook_components(result: dict[str, Any], generator: Any, **_: Any) -> dict[str, Any]:
    """Collect the components again: drf-spectacular collects them before it reads webhooks."""
    appended = spectacular_settings.APPEND_COMPONENTS
    return {**result, "components": generator.registry.build(appended)}


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add an example to each body that has none (a hook of drf-spectacular)."""
    schemas = result["components"]["schemas"]
    for path, methods in (*result["paths"].items(), *result["webhooks"].items()):
        for described in methods.values():
            bodies = {"Request": described.get("requestBody", {}), **described["responses"]}
            for part, body in bodies.items():
                for content in body.get("content", {}).values():
                    if "examples" not in content:
                        value = example_of(content["schema"], schemas)
                        if path in result["webhooks"]:
                            value["type"] = path
                        name = part if part == "Request" else "Response"
                        content["examples"] = {name: {"value": value}}
    return result


def complete_webhooks(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name the webhooks as operations, and say how they are signed (a hook of drf-spectacular)."""
    for name, methods in result["webhooks"].items():
        words = re.split(r"[._]", name)
        methods["post"]["operationId"] = "on" + "".join(word.title() for word in words)
        methods["post"]["security"] = [{"signature": []}]
    return result


def list_tags(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Declare the tags of the operations (a hook of drf-spectacular)."""
    described = [*result["paths"].values(), *result["webhooks"].values()]
    tags = {tag for methods in described for each in methods.values() for tag in each["tags"]}
    return {**result, "tags": [{"name": name} for name in sorted(tags)]}


def share_error_responses(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Replace equal error responses by references to one (a hook of drf-spectacular)."""
    shared: dict[str, Any] = {}
    for methods in result["paths"].values():
        for described in methods.values():
            responses = described["responses"]
            for status, response in responses.items():
                if status >= "400":
                    name = _response_name(response, shared)
                    shared[name] = response
                    responses[status] = {"$ref": f"#/components/responses/{name}"}
    result["components"]["responses"] = dict(sorted(shared.items()))
    return result


def _response_name(response: dict[str, Any], shared: dict[str, Any]) -> str:
    """Return the codes of an error response as a name, numbered if another one has it."""
    (content,) = response["content"].values()
    codes = [example["value"]["code"] for example in content["examples"].values()]
    name = "Or".join(code.title().replace("_", "") for code in codes)
    numbered = (f"{name}{number}" for number in count(2))
    return next(text for text in chain([name], numbered) if shared.get(text, response) == response)


class _Generator(GenerateJsonSchema):
    """Leaves out titles, which repeat the names, and empty defaults."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Any:
        described = super().default_schema(schema)
        if described.get("default") in (None, "") and "default" in described:
            del described["default"]
        return described

    def model_schema(self, schema: Any) -> Any:
        """Our responses have no members that are not described, unless a model allows them."""
        described = super().model_schema(schema)
        if self.mode == "serialization" and issubclass(schema["cls"], Schema):
            described.setdefault("additionalProperties", False)
        return described


class Models(OpenApiSerializerExtension):
    """Describes pydantic models: ours, and those of AG-UI's SDK."""

    priority = 1  # before the extension of drf-spectacular for pydantic

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return isinstance(target, type) and issubclass(target, BaseModel)

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return f"{self._prefix}{name_of(self.target)}"

    def get_identity(self, auto_schema: Any, direction: Any) -> str:
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        schema = TypeAdapter(self.target).json_schema(
            mode="validation" if direction == "request" else "serialization",
            ref_template=f"#/components/schemas/{self._prefix}{{model}}",
            schema_generator=_Generator,
            by_alias=not _is_ours(self.target),
        )
        parts = schema.pop("$defs", {})
        for ref, tag in _tagged([schema, parts]):
            part = parts[ref.rpartition("/")[2].removeprefix(self._prefix)]
            part["required"] = sorted({*part.get("required", ()), tag})
        for name, part in parts.items():
            part.pop("title", None)
            component = ResolvedComponent(
                name=f"{self._prefix}{name}",
                type=ResolvedComponent.SCHEMA,
                object=f"{self._prefix}{name}",
                schema=part,
            )
            auto_schema.registry.register_on_missing(component)
        schema.pop("title", None)
        return schema

    @property
    def _prefix(self) -> str:
        """Return the prefix that distinguishes AG-UI's models from ours of the same name."""
        return "" if _is_ours(self.target) else "Agui"


def _tagged(schema: Any) -> Iterator[tuple[str, str]]:
    """
    Yield the models of discriminated unions, with the member that discriminates them.

    Pydantic requires the member when it reads one, although its schema has a default.
    """
    if isinstance(schema, dict) and "discriminator" in schema:
        member = schema["discriminator"]
        yield from ((ref, member["propertyName"]) for ref in member["mapping"].values())
    if isinstance(schema, dict | list):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from _tagged(part)


def _is_ours(model: type[BaseModel]) -> bool:
    return issubclass(model, Schema)
