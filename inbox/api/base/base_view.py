"""The base class of REST views: the caller, ETags, idempotency keys and `fields`."""

from collections.abc import Callable, Mapping
from hashlib import md5
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_cache_control
from django.utils.decorators import method_decorator
from django.utils.http import parse_etags
from django.views.decorators.http import conditional_page
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from inbox.actions.idempotency import IdempotencyKey
from inbox.api.base.known_names import check_parameters
from inbox.api.base.pagination import Pagination, select_fields
from inbox.platform.http.json_renderer import AnyValueJSONRenderer
from inbox.queries.audit.deleted_threads import deletion_behind
from inbox.rules.errors import InvalidInput, NotFound, PreconditionFailed, UnknownName
from inbox.rules.people.access import Actor, may_see_secrets


class ApiView(ViewSet):
    """
    The operations of a resource, whose caller is an actor.

    Every GET has an ETag, responds 304 to its If-None-Match, and accepts `fields`. A change with
    If-Match is rejected unless its operation `supports_if_match`.
    """

    @classmethod
    def of(cls, *names: str) -> Any:
        """Return the view of an address that has these operations."""
        return cls.as_view({getattr(cls, name).http_method.lower(): name for name in names})

    @property
    def actor(self) -> Actor:
        actor: Actor = self.request.user.actor  # type: ignore[union-attr]
        return actor

    @property
    def may_see_secrets(self) -> bool:
        return may_see_secrets(self.actor)

    @property
    def pagination(self) -> Pagination:
        """Raises InvalidInput."""
        return Pagination.of(self.request.query_params)

    @property
    def idempotency(self) -> IdempotencyKey:
        """Return the request's idempotency key. Raises InvalidInput."""
        request = {"path": self.request.path, "body": self.request.data}
        return IdempotencyKey(key=idempotency_key(self.request), request=request)

    @property
    def _operation(self) -> Any:
        """Return the operation, None for a method that the address does not have."""
        return getattr(self, self.action or "", None)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = self._dispatch_conditional(request, *args, **kwargs)
        if not isinstance(response, Response):  # a download or an export
            return _forbid_storing(request, response)
        # After the ETag was made, which Django leaves out for what may not be stored.
        response.add_post_render_callback(lambda rendered: _forbid_storing(request, rendered))
        return response

    @method_decorator(conditional_page)
    def _dispatch_conditional(self, *args: Any, **kwargs: Any) -> Any:
        return super().dispatch(*args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\0" in str(text) for text in (*request.query_params.values(), *kwargs.values())):
            raise InvalidInput("The address contains the character NUL.")
        if self._operation is not None:
            self._check_names(request)
        is_change = request.method in ("PUT", "PATCH", "DELETE")
        supports_if_match = getattr(self._operation, "supports_if_match", False)
        if is_change and "If-Match" in request.headers and not supports_if_match:
            raise PreconditionFailed("This address does not support If-Match.")

    def _check_names(self, request: Request) -> None:
        """Raises UnknownName, InvalidInput."""
        check_parameters(request.query_params, self._operation.known_parameters)
        if not self._operation.takes_body and request.body.strip() not in (b"", b"{}"):
            raise UnknownName("This operation takes no body.")

    def check_if_match(self, request: Request) -> Callable[[], None]:
        """
        Return a check for the action to call under its lock.

        It raises PreconditionFailed unless the ETag of GET is in If-Match. Outside of the lock,
        another request could change the resource between the comparison and the change.
        """
        etags = {_strong(etag) for etag in parse_etags(request.headers.get("If-Match", ""))}

        def check() -> None:
            if etags and not (etags & {"*", self._etag(request)}):
                raise PreconditionFailed("This was changed in the meantime: read it again.")

        return check

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, NotFound) and (actor := getattr(self.request.user, "actor", None)):
            deletion = deletion_behind(actor, self.kwargs.values())
            exc = NotFound(deletion.message) if deletion else exc
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        names = request.query_params.get("fields")
        if names is not None and request.method == "GET" and response.status_code == 200:
            try:
                response.data = select_fields(response.data, names, self._operation.known_fields)
            except InvalidInput as refusal:
                response = self.handle_exception(refusal)
        patch_cache_control(response, private=True, no_cache=True)
        return super().finalize_response(request, response, *args, **kwargs)

    def _etag(self, request: Request) -> str:
        """Return the ETag of GET without parameters, as Django's middleware makes it."""
        reader: Any = self
        try:
            response: Response = reader.get(request, **self.kwargs)
        except NotFound as error:
            raise PreconditionFailed(
                "There is nothing at this address, so If-Match cannot hold."
            ) from error
        body = AnyValueJSONRenderer().render(response.data)
        return f'"{md5(body, usedforsecurity=False).hexdigest()}"'


def idempotency_key(request: Request) -> str:
    """Return the Idempotency-Key of a request, or "". Raises InvalidInput."""
    key: str = request.headers.get("Idempotency-Key", "")
    if len(key) > 150:
        raise InvalidInput("An Idempotency-Key has up to 150 characters.")
    return key


def created_response(answer: Mapping[str, Any], *, replayed: bool, status: int = 201) -> Response:
    """Return the response for a new resource, or for one that the same request made before."""
    headers = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(answer, status=status, headers=headers)


def conditional_response(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    """Return the response of a GET outside of REST framework with its ETag, or a 304."""
    patch_cache_control(response, private=True, no_cache=True)
    return _forbid_storing(request, _CONDITIONAL.process_response(request, response))


def _forbid_storing(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Keep browsers, which have a session, from storing a response on their disk."""
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        response.headers["Cache-Control"] = "private, no-store"
    return response


_CONDITIONAL = ConditionalGetMiddleware(lambda _request: HttpResponse())


def _strong(etag: str) -> str:
    # Compression makes ETags weak; the content is the same.
    return etag.removeprefix("W/")
