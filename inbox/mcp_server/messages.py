"""JSON-RPC messages of MCP clients, of both eras: with a handshake, and without."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
    JSONRPCRequest,
    methods,
)
from pydantic import ValidationError

from agents.agui import strict_json

#: Versions whose clients describe themselves in each request, and send no `initialize`.
STATELESS_VERSIONS = ("2026-07-28",)
#: Versions whose clients begin with `initialize`; the last one is offered to others.
HANDSHAKE_VERSIONS = ("2025-06-18", "2025-11-25")
TASKS = "io.modelcontextprotocol/tasks"
#: The methods of the tasks extension, which the library of types does not describe.
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")
#: For errors of ours, whose code is in `data`; the specification leaves this range to servers.
REJECTED = -32000

_METHODS = {
    **dict.fromkeys(STATELESS_VERSIONS, ("server/discover", "tools/list", "tools/call")),
    **dict.fromkeys(HANDSHAKE_VERSIONS, ("initialize", "ping", "tools/list", "tools/call")),
}
#: The parameter that the header Mcp-Name repeats.
_NAMES = {"tools/call": "name", **dict.fromkeys(TASK_METHODS, "taskId")}
_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_REQUIRED_CLIENT_CAPABILITY: 400,
    UNSUPPORTED_PROTOCOL_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")


class ProtocolError(Exception):
    """A JSON-RPC error; `status` is that of the HTTP response, if it is the whole response."""

    def __init__(
        self,
        code: int,
        message: str,
        *,
        data: Any = None,
        message_id: Any = None,
        status: int = 200,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message_id = message_id
        self._error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            self._error["data"] = data

    def to_json(self) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.message_id, "error": self._error}


class UnreadableArguments(ProtocolError):
    """A call of a tool with JSON that we do not read, answered so that the model can correct it."""

    def to_json(self) -> dict[str, Any]:
        text = f"The arguments cannot be read: {self}. Change them, and call again."
        content = [{"type": "text", "text": text}]
        return {
            "jsonrpc": "2.0",
            "id": self.message_id,
            "result": {"content": content, "isError": True},
        }


@dataclass(frozen=True)
class Message:
    """One JSON-RPC request whose parameters have the shape of its protocol version."""

    id: int | str
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def is_stateless(self) -> bool:
        return self.version in STATELESS_VERSIONS

    @property
    def progress_token(self) -> int | str | None:
        token = self._meta.get("progressToken")
        is_token = isinstance(token, int | str) and not isinstance(token, bool)
        return token if is_token else None

    @property
    def client(self) -> str:
        """The name and version that the client claims; "" if it does not say."""
        info = self._meta.get(CLIENT_INFO_META_KEY)
        if not isinstance(info, Mapping):
            return ""
        return " ".join(f"{info.get('name', '')} {info.get('version', '')}".split())[:200]

    @property
    def has_tasks(self) -> bool:
        """The client declares the tasks extension for this request."""
        capabilities = self._meta.get(CLIENT_CAPABILITIES_META_KEY)
        extensions = capabilities.get("extensions") if isinstance(capabilities, Mapping) else None
        return self.is_stateless and isinstance(extensions, Mapping) and TASKS in extensions

    @property
    def _meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    def result(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response with a result, with what this protocol version knows of it."""
        if self.method not in TASK_METHODS and value.get("resultType") != "task":
            value = methods.serialize_server_result(self.method, self.version, value)
        return {"jsonrpc": "2.0", "id": self.id, "result": value}

    def error(self, code: int, message: str, data: Any = None) -> ProtocolError:
        """Return an error as the response to this message."""
        # Clients of the handshake read a 404 as the end of a session.
        status = _STATUS.get(code, 200) if self.is_stateless else 200
        return ProtocolError(code, message, data=data, message_id=self.id, status=status)


def parse_message(body: bytes, headers: Mapping[str, str]) -> Message | None:
    """
    Return the request in a body, None for a notification.

    Raises:
        ProtocolError.
    """
    try:
        value = strict_json.loads(body)
    except strict_json.JsonRejected as error:
        raise _unreadable(body, error) from error
    if not isinstance(value, dict):
        raise _invalid("The body is one JSON-RPC request or notification, and not a batch.")
    if value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise _invalid('A JSON-RPC message has "jsonrpc": "2.0" and a method.')
    if not isinstance(value.get("params", {}), dict):
        raise _invalid("`params` is an object.")
    version = _version_of(value, headers)
    if "id" not in value:
        return None
    try:
        request = JSONRPCRequest.model_validate(value)
    except ValidationError as error:
        raise _invalid("The id of a request is a string or a whole number.") from error
    message = Message(request.id, request.method, request.params or {}, version)
    if message.is_stateless:
        _check_headers(message, headers)
    _check_params(message)
    return message


def _version_of(value: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    """Return the protocol version of a message; older clients name none before `initialize`."""
    version = headers.get("MCP-Protocol-Version")
    if version is None:
        claims_version = PROTOCOL_VERSION_META_KEY in _meta_of(value)
        if claims_version:
            raise ProtocolError(
                HEADER_MISMATCH,
                "The header MCP-Protocol-Version is missing.",
                message_id=_id_of(value),
                status=400,
            )
        return HANDSHAKE_VERSIONS[-1]
    if version not in _METHODS:
        raise ProtocolError(
            UNSUPPORTED_PROTOCOL_VERSION,
            "Unsupported protocol version",
            data={"supported": [*HANDSHAKE_VERSIONS, *STATELESS_VERSIONS], "requested": version},
            message_id=_id_of(value),
            status=400,
        )
    return version


def _check_headers(message: Message, headers: Mapping[str, str]) -> None:
    """Raise unless the headers for proxies repeat what the body says."""
    meta = _meta_of({"params": message.params})
    required = (PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY)
    if missing := [name for name in required if name not in meta]:
        raise message.error(INVALID_PARAMS, f"`params._meta` has no {' and no '.join(missing)}.")
    if meta[PROTOCOL_VERSION_META_KEY] != message.version:
        raise message.error(HEADER_MISMATCH, "MCP-Protocol-Version differs from the body.")
    if headers.get("Mcp-Method") != message.method:
        raise message.error(HEADER_MISMATCH, "Mcp-Method differs from the body, or is missing.")
    name = message.params.get(_NAMES.get(message.method, ""))
    if name is not None and _decoded(headers.get("Mcp-Name")) != name:
        raise message.error(HEADER_MISMATCH, "Mcp-Name differs from the body, or is missing.")


def _check_params(message: Message) -> None:
    method = message.method
    if message.is_stateless and method in TASK_METHODS:
        if not message.has_tasks:
            raise message.error(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                "Missing required client capability",
                {"requiredCapabilities": {"extensions": {TASKS: {}}}},
            )
        return
    if method not in _METHODS[message.version]:
        raise message.error(METHOD_NOT_FOUND, "This server does not have this method.")
    try:
        methods.validate_client_request(method, message.version, dict(message.params))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise message.error(INVALID_PARAMS, f"{place}: {problem['msg']}"[:500]) from error


def _decoded(header: str | None) -> str | None:
    """Return the value of a header that may be encoded; None if it cannot be decoded."""
    match = _ENCODED.fullmatch(header or "")
    if match is None:
        return header
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _meta_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = value.get("params", {}).get("_meta")
    return meta if isinstance(meta, Mapping) else {}


def _id_of(value: Mapping[str, Any]) -> int | str | None:
    message_id = value.get("id")
    is_id = isinstance(message_id, int | str) and not isinstance(message_id, bool)
    return message_id if is_id else None


def _unreadable(body: bytes, error: strict_json.JsonRejected) -> ProtocolError:
    """Return the error of a body that is no strict JSON, with its id if a lax parser finds one."""
    try:
        request = JSONRPCRequest.model_validate(json.loads(body))
        message_id = strict_json.loads(json.dumps(request.id))
    except (ValueError, RecursionError, strict_json.JsonRejected):
        return ProtocolError(PARSE_ERROR, f"Parse error: {error}", status=400)
    if request.method == "tools/call":
        return UnreadableArguments(PARSE_ERROR, str(error), message_id=message_id)
    return ProtocolError(PARSE_ERROR, f"Parse error: {error}", message_id=message_id, status=400)


def _invalid(message: str) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, message, status=400)
