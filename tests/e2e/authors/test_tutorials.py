"""The tutorials work as they are printed."""

import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

from tests.support.children import free_port
from tests.support.processes import embedded_environment, manage, start_embedded
from tests.support.product_client import Client, wait_for

DOCS = Path(__file__).parents[3] / "docs"
SCOPES = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]


def blocks(name, language):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)


def write_modules(name, folder, **changes):
    """Write the blocks of Python that begin with the name of their file."""
    for block in blocks(name, "python"):
        file_name = block.partition("\n")[0].removeprefix("# ")
        text = block
        for old, new in changes.items():
            text = text.replace(old, new)
        (folder / file_name).write_text(text)


def settings_of(name):
    """The variables before `make run`."""
    (line,) = [
        text for block in blocks(name, "sh") for text in block.splitlines() if "make run" in text
    ]
    return dict(re.findall(r"(\w+)=(\S+)", line))


@contextmanager
def installation(name, tmp_path, log, port=None):
    environment = embedded_environment(
        tmp_path / "data", **{**settings_of(name), "PYTHONPATH": str(tmp_path)}
    )
    (tmp_path / "data").mkdir(exist_ok=True)
    with start_embedded(environment, log=tmp_path / log, port=port, demo=True) as product:
        keys = {
            f"SIGNOFF_{kind}_KEY": manage(
                environment, "create_api_key", "--name", kind, "--team", "demo", *SCOPES
            ).strip()
            for kind in ("API", "REVIEWER")
        }
        yield product, environment, keys


@contextmanager
def receiver(folder, environment, secret):
    """The receiver of the tutorial; yields the lines that it prints."""
    process = subprocess.Popen(
        [sys.executable, "receiver.py"],
        cwd=folder,
        env={**os.environ, **environment, "SIGNOFF_WEBHOOK_SECRET": secret},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = []

    def read():
        lines.extend(line.strip() for line in process.stdout)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield lines
    finally:
        process.kill()
        process.wait()
        thread.join()


def output_of(command, folder, keys):
    done = subprocess.run(
        command, cwd=folder, env=os.environ | keys, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_tutorial_ends_with_the_webhook_of_a_decided_run(tmp_path):
    port, receiver_port = free_port(), str(free_port())
    address = f"http://127.0.0.1:{port}"
    write_modules(
        "tutorial.md", tmp_path, **{"http://localhost:8000": address, "8100": receiver_port}
    )
    add_webhook, curl = [block for block in blocks("tutorial.md", "sh") if "$" in block]
    tutorial = (DOCS / "tutorial.md").read_text()
    (expected,) = re.findall(r"^run.finished .*$", tutorial, re.MULTILINE)

    with installation("tutorial.md", tmp_path, "log", port) as (_, environment, keys):
        arguments = re.search(r"manage.py (add_webhook [^)]*)\)", add_webhook)[1]
        secret = manage(environment, *arguments.replace("8100", receiver_port).split()).strip()
        with (
            receiver(tmp_path, environment, secret) as lines,
            Client(address, keys["SIGNOFF_API_KEY"]) as client,
        ):
            curl = curl.replace("http://localhost:8000", address)
            run_id = re.search(r'"id":"([^"]+)"', output_of(["sh", "-c", curl], tmp_path, keys))[1]
            printed = output_of([sys.executable, "decide.py", run_id], tmp_path, keys)

            assert printed == "Pay 860.5 EUR to Kestrel GmbH\n"
            assert wait_for(lambda: expected in lines, seconds=60)
            events = f"/api/threads/{client.run(run_id)['thread']}/events"
            assert "paid 800.0 EUR to Kestrel GmbH" in client.http.get(events).text


def test_the_killed_payment_is_made_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    payments = tmp_path / "payments.txt"
    write_modules("tutorial-kill.md", tmp_path, **{'"payments.txt"': repr(str(payments))})
    (question,) = re.findall(r"^> (.*)$", (DOCS / "tutorial-kill.md").read_text(), re.MULTILINE)

    with installation("tutorial-kill.md", tmp_path, "log") as (product, _, keys):
        with Client(product.url, keys["SIGNOFF_API_KEY"]) as client:
            started = client.start("go", agent="slow-desk").json()
            assert wait_for(
                lambda: client.run(started["id"])["status"] == "interrupted", seconds=60
            )
            (request,) = requests_of(client, started["thread"])
            client.http.headers["Authorization"] = f"Bearer {keys['SIGNOFF_REVIEWER_KEY']}"
            client.decide(request, {"approved": True})
            assert wait_for(payments.exists, seconds=60)
        product.kill()

    again = installation("tutorial-kill.md", tmp_path, "log2")
    with again as (product, _, keys), Client(product.url, keys["SIGNOFF_REVIEWER_KEY"]) as client:
        assert wait_for(lambda: bool(requests_of(client, started["thread"])), seconds=90)
        (doubt,) = requests_of(client, started["thread"])
        assert doubt["interrupt"]["message"] == question
        result = '"paid 860.5 EUR to Kestrel GmbH"'
        client.decide(doubt, {"outcome": "happened", "result": result})
        events = f"/api/threads/{started['thread']}/events"
        finished = '"outcome":{"type":"success"}'
        assert wait_for(
            lambda: finished in client.http.get(events).text.replace(" ", ""), seconds=60
        )

    assert len(payments.read_text().splitlines()) == 1


def requests_of(client, thread):
    return client.http.get("/api/interrupts", params={"thread": thread}).json()["results"]
