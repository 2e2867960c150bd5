"""Traces of the running product, as a receiver of OTLP gets them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.monitoring.otlp import draw, receiver
from tests.support.processes import REPOSITORY, embedded_environment
from tests.support.product import embedded_product, scaled_product
from tests.support.product_client import APPROVE, Client, wait_for

#: Set to a path, the test of one approval writes the picture of docs/monitoring.md there.
PICTURE = os.environ.get("SIGNOFF_TEST_TRACE_PICTURE", "")

WITHOUT_EXTRA = """
import sys
sys.modules["opentelemetry"] = None
import django
django.setup()
from django.core.management import call_command
call_command("serve")
"""
IMPORTS = """
import sys, django
django.setup()
from inbox.config import asgi
print([name for name in sys.modules if name.startswith(("opentelemetry", "prometheus_client"))])
"""


def approve_one(product):
    """Start a run, approve its call, wait for its end; return the ids of the requests."""
    with Client(product.url, product.create_api_key("run", "read", "decide")) as client:
        run = client.start("rehearse:tool_call").raise_for_status().json()["id"]
        assert wait_for(lambda: client.run(run)["status"] == "interrupted", seconds=30)
        (interrupt,) = [row for row in client.pending() if row["run"] == run]
        client.decide(interrupt, APPROVE).raise_for_status()
        thread = client.run(run)["thread"]
        runs = client.http.get("/api/runs", params={"thread": thread}).json()["results"]
        (resume,) = [row["id"] for row in runs if row["resumes"] == run]
        assert wait_for(lambda: client.run(resume)["status"] == "succeeded", seconds=30)
    return run, resume


def of_run(spans, run):
    (span,) = [span for span in spans if span.attributes.get("signoff.run") == run]
    return span


def traced(url, **more):
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "SIGNOFF_TRACE_SAMPLING": "1",
        **more,
    }


@pytest.mark.services
def test_one_approval_is_one_trace_to_the_request_and_one_from_it(tmp_path):
    with receiver() as received, scaled_product(tmp_path, **traced(received.url)) as product:
        run, resume = approve_one(product)
        assert wait_for(
            lambda: any(
                span.attributes.get("signoff.run") == resume for span in received.named("resume")
            ),
            seconds=30,
        )
        turn, resumed = (
            of_run(received.named("agent turn"), run),
            of_run(received.named("resume"), resume),
        )
        first = [span for span in received.spans if span.trace == turn.trace]
        second = [span for span in received.spans if span.trace == resumed.trace]
        logged = product.workers[0].has_logged(f"trace_id={turn.trace}")

    assert {span.name for span in first} == {
        *("POST api/runs", "accept run", "claim run", "agent turn", "open requests"),
    }
    names = {span.name for span in second}
    decide_route = "POST api/interrupts/<uuid:interrupt_id>/decide"
    assert names == {decide_route, "decision", "queue resume", "claim run", "resume", "tool call"}
    assert resumed.links == [next(span.id for span in first if span.name == "accept run")]
    (decision,) = [span for span in second if span.name == "decision"]
    assert decision.attributes["signoff.run"] == run
    assert resumed.attributes["signoff.status"] == "succeeded"
    assert logged

    texts = [str(value) for span in received.spans for value in span.attributes.values()]
    hidden = ("dana@example.com", "send_email", "rehearse", "approved")
    assert not [text for text in texts if any(word in text for word in hidden)]
    if PICTURE:
        titles = ("From the start of a run to its request", "From the decision to the end")
        Path(PICTURE).write_text(draw([first, second], titles))


def test_a_client_continues_its_own_trace(tmp_path):
    trace = "0af7651916cd43dd8448eb211c80319c"
    with receiver() as received, embedded_product(tmp_path, **traced(received.url)) as product:
        with Client(product.url, product.create_api_key("run")) as client:
            client.http.headers["traceparent"] = f"00-{trace}-b7ad6b7169203331-01"
            client.start("rehearse:echo").raise_for_status()
        assert wait_for(
            lambda: any(span.trace == trace for span in received.named("agent turn")), seconds=30
        )
        (request,) = [span for span in received.named("POST api/runs") if span.trace == trace]

    assert request.parent == "b7ad6b7169203331"


def test_without_sampling_nothing_is_sent(tmp_path):
    with receiver() as received:
        settings = traced(received.url, SIGNOFF_TRACE_SAMPLING="0")
        with embedded_product(tmp_path, **settings) as product:
            approve_one(product)

    assert received.spans == []


def test_traces_without_the_extra_stop_the_start_with_a_hint(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA],
        env=embedded_environment(
            tmp_path, DJANGO_SETTINGS_MODULE="inbox.config.settings", SIGNOFF_TRACES="1"
        ),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "Traces need the extra `otel`" in done.stderr


def test_nothing_is_imported_while_metrics_and_traces_are_off(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        env=embedded_environment(tmp_path, DJANGO_SETTINGS_MODULE="inbox.config.settings"),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"
