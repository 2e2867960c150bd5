"""Files that agents of this installation attach to their requests."""

import json

from agents import registry
from agents.examples.expenses import RECEIPT
from agents.sdk.context import AttachedFile
from agents.sdk.workflow import WorkflowContext, workflow
from inbox.models import File
from tests.support.files.sending import broken_references, orphans
from tests.support.steps import answer, audit_actions, open_interrupts, resumed_run, start


def test_an_example_attaches_a_table_and_a_chart(world, as_agent, bob):
    desk = registry.get("expense-desk")
    run = start(world, "go", agent=as_agent(desk.run))

    (interrupt,) = open_interrupts(run)
    files = json.loads(interrupt.files)
    answer(interrupt, bob, True)
    (upload,) = open_interrupts(resumed_run(run))

    assert [(file["name"], file["media_type"]) for file in files] == [
        ("EX-2026-11.csv", "text/csv"),
        ("shares.png", "image/png"),
    ]
    assert (upload.reason, json.loads(upload.body)["responseSchema"]) == (
        "upload_required",
        RECEIPT,
    )
    assert audit_actions(interrupt.thread)[:3] == ["run.started", "file.uploaded", "file.uploaded"]
    assert (orphans(), broken_references()) == (set(), [])


def test_the_same_file_again_is_stored_once(world, as_agent):
    file = AttachedFile("a.txt", b"text")

    @workflow(name="twice")
    async def twice(ctx: WorkflowContext) -> None:
        """Asks twice."""
        await ctx.interrupt("One?", reason="confirmation", files=[file, file])

    (interrupt,) = open_interrupts(start(world, "go", agent=as_agent(twice.run)))

    assert File.objects.count() == 1
    assert len(json.loads(interrupt.files)) == 2


def test_a_file_that_is_refused_fails_the_run(world, as_agent, settings):
    settings.FILE_BYTES = 3
    file = AttachedFile("a.txt", b"text")

    @workflow(name="large")
    async def large(ctx: WorkflowContext) -> None:
        """Asks with a file that is too large."""
        await ctx.interrupt("One?", reason="confirmation", files=[file])

    run = start(world, "go", agent=as_agent(large.run))

    assert (run.status, run.error_code) == ("failed", "AGENT_ERROR")
    assert not File.objects.exists()
