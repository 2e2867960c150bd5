"""A mail server on a socket that accepts, refuses or hangs up."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class MailServer:
    """The answers to RCPT and to the end of DATA, and the mails that were accepted."""

    port: int = 0
    recipient: str = "250 ok"
    data: str = "250 ok"  #: "" closes the connection after the text of the mail
    is_silent: bool = False  #: accepts connections, and says nothing
    closing: threading.Event = field(default_factory=threading.Event)
    mails: list[str] = field(default_factory=list)


class _Session(socketserver.StreamRequestHandler):
    state: MailServer

    def handle(self) -> None:
        if self.state.is_silent:
            self.state.closing.wait()
            return
        self._say("220 test")
        while line := self.rfile.readline().decode("latin-1").strip():
            command = line.upper()
            if command == "DATA":
                self._say("354 go on")
                text = self._text()
                if not self.state.data:
                    return
                if self.state.data.startswith("2"):
                    self.state.mails.append(text)
                self._say(self.state.data)
            else:
                self._say(self.state.recipient if command.startswith("RCPT") else "250 ok")
                if command == "QUIT":
                    return

    def _text(self) -> str:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.decode())
        return "".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def run_mail_server() -> Iterator[MailServer]:
    state = MailServer()
    handler = type("Session", (_Session,), {"state": state})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield state
        state.closing.set()
        server.shutdown()
