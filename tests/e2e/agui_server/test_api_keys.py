"""Keys on a running product: when they were used is written, and a revoked one ends its streams."""

import httpx

from tests.support.browser.site import wait_for


def _as(product, token):
    return httpx.Client(
        base_url=product.url, timeout=20, headers={"Authorization": f"Bearer {token}"}
    )


def test_the_product_writes_down_that_a_key_was_used(product):
    with _as(product, product.create_api_key("read", "admin")) as http:

        def own():
            keys = http.get("/api/teams/demo/keys").json()["results"]
            return next(key for key in keys if key["scopes"] == ["admin", "read"])

        assert wait_for(lambda: own()["last_used_at"])


def test_a_stream_ends_when_its_key_is_revoked(product):
    admin = product.create_api_key("read", "run", "admin")
    with _as(product, admin) as http:
        key = http.post(
            "/api/teams/demo/keys", json={"name": "follower", "scopes": ["read"]}
        ).json()
        run = http.post("/api/runs", json={"agent": "rehearsal", "message": "rehearse:echo"}).json()
        with (
            _as(product, key["token"]) as follower,
            follower.stream(
                "GET",
                f"/api/threads/{run['thread']}/events",
                headers={"Accept": "text/event-stream"},
            ) as stream,
        ):
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("data:"))
            http.post(f"/api/keys/{key['id']}/revoke")

            # It ends at the next look: one that went on would say that it is alive.
            assert not next((line for line in lines if line.startswith(":")), "")

        assert _as(product, key["token"]).get("/api/runs").status_code == 401
