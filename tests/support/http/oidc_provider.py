"""An identity provider on this machine: OpenID Connect as far as signing in needs it."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "signoff", "a-client-secret"


class Provider:
    """Signs everybody in at once as the person of `claims`; counts what it was asked."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.signs_with = self._key = rsa.generate_private_key(65537, 2048)
        self.is_down = False
        self.user_info: dict[str, Any] | None = None  #: None: the provider has no such endpoint
        self.audience = CLIENT
        self.signs_with_secret = False
        self.states: list[str] = []
        self.query: dict[str, str] = {}  #: of the last request to sign somebody in
        self.names_issuer = ""  #: in its metadata, "" for its own
        self._challenges: dict[str, str] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider._get(self)

            def do_POST(self) -> None:
                provider._token(self)

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def setting(self, **more: Any) -> str:
        """What SIGNOFF_OIDC says of it."""
        named = {"id": "corp", "name": "Example Corp", "issuer": self.url}
        return json.dumps([{**named, "client_id": CLIENT, "client_secret": SECRET, **more}])

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        if self.is_down:
            _answer(request, 500, {})
        elif parts.path == "/.well-known/openid-configuration":
            names = {"authorization": "authorize", "token": "token"}
            ends = {f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()}
            if self.user_info is not None:
                ends["userinfo_endpoint"] = f"{self.url}/me"
            issuer = self.names_issuer or self.url
            _answer(request, 200, {"issuer": issuer, "jwks_uri": f"{self.url}/keys", **ends})
        elif parts.path == "/me":
            _answer(request, 200 if self.user_info else 500, self.user_info or {})
        elif parts.path == "/keys":
            key = json.loads(RSAAlgorithm.to_jwk(self._key.public_key()))
            published = {**key, "kid": "k1", "alg": "RS256"}
            if self.signs_with_secret:  # which everybody could read here, and sign with
                secret = base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("=")
                published = {"kty": "oct", "k": secret, "kid": "k1", "alg": "HS256"}
            _answer(request, 200, {"keys": [published]})
        else:
            self._authorize(
                request, {name: value[0] for name, value in parse_qs(parts.query).items()}
            )

    def _authorize(self, request: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        assert (query["client_id"], query["response_type"]) == (CLIENT, "code")
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self._challenges)}"
        self.states.append(query["state"])
        self.query = query
        self._challenges[code] = query["code_challenge"]
        request.send_response(302)
        back = urlencode({"code": code, "state": query["state"]})
        request.send_header("Location", f"{query['redirect_uri']}?{back}")
        request.end_headers()

    def _token(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        form = {name: value[0] for name, value in parse_qs(body).items()}
        proof = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).decode().rstrip("=")
        secret = form.get("client_secret")
        if challenge != self._challenges.pop(form["code"], None) or secret != SECRET:
            _answer(request, 400, {"error": "invalid_grant"})
            return
        now = int(time.time())
        claims = {"iss": self.url, "aud": self.audience, "iat": now, "exp": now + 300}
        key, algorithm = self.signs_with, "RS256"
        if self.signs_with_secret:
            key, algorithm = SECRET, "HS256"
        token = jwt.encode(
            {**claims, **self.claims}, key, algorithm=algorithm, headers={"kid": "k1"}
        )
        _answer(request, 200, {"access_token": "a", "token_type": "Bearer", "id_token": token})


def _answer(request: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    data = json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    request.wfile.write(data)
