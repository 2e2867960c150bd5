"""The entrance for directories: who calls, and errors as SCIM has them."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from inbox.api.base.authentication import counted
from inbox.platform import rate_limits
from inbox.platform.client_ip import client_ip_of
from inbox.platform.http.site_address import site_of
from inbox.queries.directories.directories import directory_actor
from inbox.rules.errors import RequestRejected
from inbox.rules.people.access import Actor
from inbox.scim_server.messages import error_of


@csrf_exempt  # the token of a directory is in a header, and no cookie is read
def serve_scim(request: HttpRequest, endpoint: str = "", resource_id: str = "") -> HttpResponse:
    """Respond to a request of a directory."""
    try:
        actor = _authenticate(request)
        # Not at the start: the library takes 20 MB, and few sites have directories.
        from inbox.scim_server.endpoints import Exchange, respond  # noqa: PLC0415

        return respond(
            Exchange(request, actor, f"{site_of(request)}/scim/v2"), endpoint, resource_id
        )
    except RequestRejected as refusal:
        return error_of(refusal)


def _authenticate(request: HttpRequest) -> Actor:
    """
    Return the directory of a request, and count the call.

    Raises:
        Unauthenticated, NetworkNotAllowed, RateLimited.
    """
    with counted(request):
        actor = directory_actor(request.headers.get("Authorization", ""), client_ip_of(request))
    rate_limits.count_caller(actor)
    return actor
