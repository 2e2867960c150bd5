"""The base class of REST views: the caller, ETags, idempotency keys and `fields`."""

from collections.abc import Callable, Mapping
from hashlib import md5
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_cache_control
from django.utils.decorators import method_decorator
from django.utils.http import parse_etags
from django.views.decorators.http import conditional_page
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inbox.actions.idempotency import IdempotencyKey
from inbox.api.base.pagination import select_fields
from inbox.rules.errors import InvalidInput, NotFound, PreconditionFailed
from inbox.rules.people.access import Actor, may_see_secrets


class ApiView(APIView):
    """
    A view whose caller is an actor.

    Every GET has an ETag, responds 304 to its If-None-Match, and accepts `fields`. A change with
    If-Match is rejected unless the view `supports_if_match` and passes `check_if_match` to its
    action.
    """

    supports_if_match = False

    def actor(self, request: Request) -> Actor:
        actor: Actor = request.user.actor  # type: ignore[union-attr]
        return actor

    def may_see_secrets(self, request: Request) -> bool:
        return may_see_secrets(self.actor(request))

    @method_decorator(conditional_page)
    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        return super().dispatch(*args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        is_change = request.method in ("PUT", "PATCH", "DELETE")
        if is_change and "If-Match" in request.headers and not self.supports_if_match:
            raise PreconditionFailed("This address does not support If-Match.")

    def idempotency(self, request: Request) -> IdempotencyKey:
        """Return the request's idempotency key; raises InvalidInput."""
        return IdempotencyKey(
            key=idempotency_key(request), request={"path": request.path, "body": request.data}
        )

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

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        names = request.query_params.get("fields")
        if names is not None and request.method == "GET" and response.status_code == 200:
            known = getattr(self, "get").known_fields  # noqa: B009  # every operation is described
            try:
                response.data = select_fields(response.data, names, known)
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
        body = JSONRenderer().render(response.data)
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
    return _CONDITIONAL.process_response(request, response)


_CONDITIONAL = ConditionalGetMiddleware(lambda _request: HttpResponse())


def _strong(etag: str) -> str:
    # Compression makes ETags weak; the content is the same.
    return etag.removeprefix("W/")
