"""What every address of the REST API does alike: who calls, versions, and chosen fields."""

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
from inbox.api.base.pagination import chosen
from inbox.rules.errors import InvalidInput, NotFound, PreconditionFailed
from inbox.rules.people.access import Actor, may_see_secrets


class Caller(APIView):
    """
    A view whose caller is an actor.

    Every GET has an ETag, answers 304 to its If-None-Match, and takes `fields`. An If-Match with a
    change is refused, unless the view `takes_if_match` and hands `as_seen` to its action.
    """

    takes_if_match = False

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
        if is_change and "If-Match" in request.headers and not self.takes_if_match:
            raise PreconditionFailed("There is no version here that could match.")

    def idempotency(self, request: Request) -> IdempotencyKey:
        """Return the request's idempotency key; raises InvalidInput."""
        return IdempotencyKey(
            key=idempotency_key(request), request={"path": request.path, "body": request.data}
        )

    def as_seen(self, request: Request) -> Callable[[], None]:
        """
        What an action calls under its lock: it raises unless GET still answers what If-Match names.

        Outside of the lock somebody else could change it between the comparison and the change.
        """
        wanted = {_strong(one) for one in parse_etags(request.headers.get("If-Match", ""))}

        def check() -> None:
            if wanted and not (wanted & {"*", self._etag(request)}):
                raise PreconditionFailed("Somebody has changed this meanwhile: read it again.")

        return check

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        wanted = request.query_params.get("fields")
        if wanted is not None and request.method == "GET" and response.status_code == 200:
            known = getattr(self, "get").known_fields  # noqa: B009  # every operation is described
            try:
                response.data = chosen(response.data, wanted, known)
            except InvalidInput as refusal:
                response = self.handle_exception(refusal)
        patch_cache_control(response, private=True, no_cache=True)
        return super().finalize_response(request, response, *args, **kwargs)

    def _etag(self, request: Request) -> str:
        """That of GET without parameters, as Django's middleware makes it."""
        reader: Any = self
        try:
            shown: Response = reader.get(request, **self.kwargs)
        except NotFound as error:
            raise PreconditionFailed("There is nothing here that could match.") from error
        body = JSONRenderer().render(shown.data)
        return f'"{md5(body, usedforsecurity=False).hexdigest()}"'


def idempotency_key(request: Request) -> str:
    """The client's name for a request, "" if it has none. Raises InvalidInput."""
    key: str = request.headers.get("Idempotency-Key", "")
    if len(key) > 150:
        raise InvalidInput("An Idempotency-Key has up to 150 characters.")
    return key


def made(answer: Mapping[str, Any], *, replayed: bool, status: int = 201) -> Response:
    """The answer about something new, or made before by the same request."""
    headers = {"Idempotent-Replayed": "true"} if replayed else {}
    return Response(answer, status=status, headers=headers)


def unchanged(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    """The answer of a GET that is no view of REST framework: with its ETag, or 304."""
    patch_cache_control(response, private=True, no_cache=True)
    return _CONDITIONAL.process_response(request, response)


_CONDITIONAL = ConditionalGetMiddleware(lambda _request: HttpResponse())


def _strong(etag: str) -> str:
    # Compression makes a tag a weak one; what was compressed is the same.
    return etag.removeprefix("W/")
