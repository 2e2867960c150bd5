"""Model providers on loopback whose model makes one call, and then says that it is done."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Events = Iterator[dict[str, Any]]


#: The tools of hosts that run commands.
_SHELLS = ("Bash", "bash", "exec_command", "run_shell_command")


class ModelServer:
    """
    Speaks the Messages API of Anthropic, the Responses API of OpenAI, and Gemini's, as streams.

    Its model runs `command`, or calls the tool of an MCP server whose name ends in `tool`.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.tool = ""
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def tool_results(self) -> str:
        """Return what the model has read about its calls, as text."""
        results = [
            item
            for body in self.bodies
            for message in body.get("messages", body.get("input", body.get("contents", [])))
            for item in _parts(message)
            if item.get("type") in ("tool_result", "function_call_output")
            or "functionResponse" in item
        ]
        return json.dumps(results, ensure_ascii=False)

    def _call(self, names: list[str]) -> tuple[str, dict[str, Any]] | None:
        """Return the name and the arguments of the call, if the host offers the tool."""
        if self.tool:
            name = next((name for name in names if name.endswith(self.tool)), None)
            return (name, {"book": "Momo"}) if name else None
        name = next((name for name in names if name in _SHELLS), None)
        command = "cmd" if name == "exec_command" else "command"
        return (name, {command: self.command, "description": "make a file"}) if name else None

    def generate_content(self, body: dict[str, Any]) -> Events:
        """Answer Gemini with a call, or with text once there is a result."""
        is_done = any(
            "functionResponse" in part
            for content in body["contents"]
            for part in content.get("parts", ())
        )
        names = [
            tool["name"]
            for tools in body.get("tools") or ()
            for tool in tools.get("functionDeclarations", ())
        ]
        call = None if is_done else self._call(names)
        part: dict[str, Any] = {"text": "done"}
        if call:
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        yield {
            "candidates": [
                {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}
            ],
            "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
        }

    def messages(self, body: dict[str, Any]) -> Events:
        """Answer with a call, or with text once there is a result."""
        is_done = any(
            part.get("type") == "tool_result"
            for message in body["messages"]
            for part in _parts(message)
        )
        names = [tool.get("name", "") for tool in body.get("tools") or ()]
        call = None if is_done else self._call(names)
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{uuid4().hex}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield {"type": "message_start", "message": message}
        if call:
            args = json.dumps(call[1])
            block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{uuid4().hex[:20]}"}
            block |= {"name": call[0], "input": {}}
            delta, reason = {"type": "input_json_delta", "partial_json": args}, "tool_use"
        else:
            block = {"type": "text", "text": ""}
            delta, reason = {"type": "text_delta", "text": "done"}, "end_turn"
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        ending = {"stop_reason": reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": ending, "usage": usage}
        yield {"type": "message_stop"}

    def responses(self, body: dict[str, Any]) -> Events:
        """Answer with a call of the shell, or with text once there is a result."""
        is_done = any(item.get("type") == "function_call_output" for item in body["input"])
        response = {"id": f"resp_{uuid4().hex}"}
        item: dict[str, Any] = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "done"}],
        }
        namespaces = {
            tool["name"]: space["name"]
            for space in body["tools"]
            if space["type"] == "namespace"
            for tool in space["tools"]
        }
        names = [tool.get("name", "") for tool in body["tools"]]
        call = None if is_done else self._call([*names, *namespaces])
        if call:
            item = {
                "type": "function_call",
                "id": "fc_1",
                "call_id": f"call_{uuid4().hex[:8]}",
                "name": call[0],
                "arguments": json.dumps(call[1]),
            }
            if call[0] in namespaces:
                item["namespace"] = namespaces[call[0]]
        tokens = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        details = {"input_tokens_details": None, "output_tokens_details": None}
        yield {"type": "response.created", "response": response}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {
            "type": "response.completed",
            "response": {**response, "usage": {**tokens, **details}},
        }


def _parts(message: Any) -> list[dict[str, Any]]:
    content = message.get("content", message.get("parts"))
    parts = content if isinstance(content, list) else []
    return [message, *(part for part in parts if isinstance(part, dict))]


@contextmanager
def model_server(command: str) -> Iterator[ModelServer]:
    """Serve a model whose only idea is `command`."""
    model = ModelServer(command)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            model.bodies.append(body)
            path = self.path.partition("?")[0]
            streams = {
                "/v1/messages": model.messages,
                "/v1/responses": model.responses,
                f"{path.rpartition(':')[0]}:streamGenerateContent": model.generate_content,
            }
            if path not in streams:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in streams[path](body):
                name = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    model.url = f"http://127.0.0.1:{http.server_port}"
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield model
    finally:
        http.shutdown()
        http.server_close()
