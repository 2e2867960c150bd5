"""URLs of the SCIM server, below /scim/v2/."""

from typing import Any

from django.urls import path

from inbox.scim_server.entry import serve_scim


def _endpoint(name: str) -> list[Any]:
    address = {"endpoint": name}
    return [path(name, serve_scim, address), path(f"{name}/<str:resource_id>", serve_scim, address)]


def _search(name: str) -> Any:
    return path(name, serve_scim, {"endpoint": name})


urlpatterns = [
    *map(_search, ("Users/.search", "Groups/.search", ".search")),
    *_endpoint("Users"),
    *_endpoint("Groups"),
    *_endpoint("ResourceTypes"),
    *_endpoint("Schemas"),
    path("ServiceProviderConfig", serve_scim, {"endpoint": "ServiceProviderConfig"}),
    path("", serve_scim),
    path("<path:resource_id>", serve_scim),
]
