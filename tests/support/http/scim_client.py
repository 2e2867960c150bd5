"""A directory that calls the SCIM endpoints in this process."""

import json
from typing import Any

from django.test import Client

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


class ScimClient:
    def __init__(self, token: str, address: str = "127.0.0.1") -> None:
        self._client = Client(REMOTE_ADDR=address)
        self._token = token

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Return a response; `path` is below /scim/v2/, and text is sent as it is."""
        text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
        return self._client.generic(
            method,
            f"/scim/v2/{path}",
            text,
            headers.pop("content_type", "application/scim+json"),
            headers={"Authorization": f"Bearer {self._token}", **headers},
        )

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def add_user(self, name: str = "bea", **attributes: Any) -> Any:
        """Create a user with the attributes that directories send."""
        user = {
            "schemas": [USER],
            "userName": f"{name}@corp.example",
            "displayName": name.capitalize(),
            "emails": [{"value": f"{name}@corp.example", "type": "work", "primary": True}],
            "active": True,
            **attributes,
        }
        return self.call("POST", "Users", user)

    def add_group(self, name: str, *member_ids: str) -> Any:
        group = {"schemas": [GROUP], "displayName": name, "members": references(member_ids)}
        return self.call("POST", "Groups", group)

    def patch(self, path: str, *operations: dict[str, Any], **headers: str) -> Any:
        return self.call("PATCH", path, {"schemas": [PATCH], "Operations": operations}, **headers)

    def deactivate(self, user_id: str) -> Any:
        return self.patch(f"Users/{user_id}", {"op": "replace", "value": {"active": False}})


def references(ids: Any) -> list[dict[str, str]]:
    return [{"value": each} for each in ids]


def error_of(response: Any) -> tuple[int, str | None]:
    """Return the status and the scimType of an error."""
    body = response.json()
    assert response.status_code == int(body["status"])
    assert body["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    return response.status_code, body.get("scimType")
