"""A chat-completions provider on a port of this machine, which speaks for the model of the desk."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import desk


def _message(messages):
    """Ask for the calls of the script, then say what came of them."""
    # AG2 sends an empty message of the user after the result of a client's tool.
    users = [
        at
        for at, message in enumerate(messages)
        if message["role"] == "user" and _text(message["content"])
    ]
    results = [each["content"] for each in messages[users[-1] :] if each["role"] == "tool"]
    if results:
        return {"role": "assistant", "content": desk.closing_words(list(map(_text, results)))}
    calls = [
        {"id": key, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for key, name, args in desk.tool_calls_for(_text(messages[users[-1]]["content"]))
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _text(content):
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        """Be silent."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = _message(body["messages"])
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        about = {"id": "c-1", "created": 1, "model": "desk"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if body.get("stream"):
            calls = [
                {**each, "index": number}
                for number, each in enumerate(message.get("tool_calls", []))
            ]
            words = (message["content"] or "").split(" ")
            deltas = [{**message, **({"tool_calls": calls} if calls else {})}]
            if not calls:
                deltas = [{"role": "assistant", "content": f"{word} "} for word in words]
            choices = [
                *([{"index": 0, "delta": each, "finish_reason": None}] for each in deltas),
                [{"index": 0, "delta": {}, "finish_reason": reason}],
                [],
            ]
            chunks = [
                {**about, "object": "chat.completion.chunk", "choices": each, "usage": usage}
                for each in choices
            ]
            data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
            self._send(f"{data}data: [DONE]\n\n", "text/event-stream")
            return
        choice = {"index": 0, "message": message, "finish_reason": reason}
        answer = {**about, "object": "chat.completion", "choices": [choice], "usage": usage}
        self._send(json.dumps(answer), "application/json")

    def _send(self, text, kind):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def start():
    """Start the provider, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/v1"
