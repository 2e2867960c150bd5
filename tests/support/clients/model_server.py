"""Model providers on loopback whose model calls one command, and then says that it is done."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Events = Iterator[dict[str, Any]]


class ModelServer:
    """Speaks the Messages API of Anthropic and the Responses API of OpenAI, as streams."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def tool_results(self) -> str:
        """Return what the model has read about its calls, as text."""
        results = [
            item
            for body in self.bodies
            for message in body.get("messages", body.get("input", []))
            for item in _parts(message)
            if item.get("type") in ("tool_result", "function_call_output")
        ]
        return json.dumps(results, ensure_ascii=False)

    def messages(self, body: dict[str, Any]) -> Events:
        """Answer with a call of Bash, or with text once there is a result."""
        is_done = any(
            part.get("type") == "tool_result"
            for message in body["messages"]
            for part in _parts(message)
        )
        has_tool = any(tool["name"] == "Bash" for tool in body.get("tools") or ())
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
        if has_tool and not is_done:
            args = json.dumps({"command": self.command, "description": "make a file"})
            block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{uuid4().hex[:20]}"}
            block |= {"name": "Bash", "input": {}}
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
        if not is_done:
            item = {
                "type": "function_call",
                "id": "fc_1",
                "call_id": f"call_{uuid4().hex[:8]}",
                "name": "exec_command",
                "arguments": json.dumps({"cmd": self.command}),
            }
        tokens = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        details = {"input_tokens_details": None, "output_tokens_details": None}
        yield {"type": "response.created", "response": response}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {
            "type": "response.completed",
            "response": {**response, "usage": {**tokens, **details}},
        }


def _parts(message: Any) -> list[dict[str, Any]]:
    content = message.get("content")
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
            streams = {"/v1/messages": model.messages, "/v1/responses": model.responses}
            if path not in streams:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in streams[path](body):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

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
