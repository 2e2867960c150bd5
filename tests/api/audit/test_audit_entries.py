"""REST about the trail: searching it, and exporting it for those who trust nobody."""

import csv
import io
import json
import subprocess
import sys

import pytest

from inbox import transparency_log
from inbox.actions.audit.erasure import erase_thread
from inbox.actions.decisions.decide import decide
from inbox.actions.people.api_keys import make_key
from inbox.actions.people.provisioning import ensure_agent
from inbox.actions.webhooks.endpoints import add_webhook
from inbox.models import AuditCheckpoint, AuditEntry, ToolCall
from inbox.queries.audit import trail
from inbox.queries.audit.audit_entries import entries_for
from inbox.queries.decisions import merge_pages
from inbox.rules.audit import export_formats as rules
from inbox.rules.audit.audit_filters import EntryFilter
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import SEED, Permission
from inbox.rules.runs.states import EntryStatus
from inbox.transparency_log import audit_exports as exporting
from tests.api.base.test_pagination import whole_key
from tests.integration.audit.conftest import (
    auditor,
    log,
    log_directory,
    log_snapshot,
    world,
    world_with_log,
)
from tests.support import steps
from tests.support.http.rest_client import Caller, pages, read
from tests.support.limits import limit_teams
from tests.support.steps import open_interrupts, resumed_run, start
from tests.support.web.pages import words
from tools import audit_verifier as script

__all__ = ["auditor", "log", "log_directory", "log_snapshot", "world", "world_with_log"]


@pytest.fixture
def admin(world):
    return whole_key(world.team)


@pytest.fixture
def reader(key_with):
    return key_with("read")


def all_of(caller, path, **query):
    return [entry for page in pages(caller, path, **query) for entry in page]


def export(caller, status=200, **body):
    """What is answered to an export, as bytes, or as the problem that it is."""
    answer = caller.post("/api/audit/export", {"format": "jsonl", **body})
    assert answer.status_code == status, answer.content
    return answer.getvalue() if status == 200 else answer.json()


def rows(table):
    return list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"), newline="")))


def verified(tmp_path, auditor, data):
    """The exit and the report of the script that stands alone."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(data)
    command = [sys.executable, "-I", script.__file__, path, "--key", auditor.key]
    done = subprocess.run(
        [*command, "--checkpoints", auditor.checkpoints],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


# -- searching ------------------------------------------------------------------------------------


def test_entries_are_found_by_everything_that_they_say(log, reader, world, bob):
    thread = log[-2].thread_id  # which was approved and refused
    (call,) = ToolCall.objects.filter(thread=thread)
    today = str(log[0].queued_at.date())

    def seqs_of(**query):
        return {
            entry["seq"] for entry in read(reader, "/api/audit", thread=thread, **query)["results"]
        }

    entries = AuditEntry.objects.filter(chain=thread)
    everything = set(entries.values_list("seq", flat=True))
    by_bob = set(entries.filter(actor_id=str(bob.user_id)).values_list("seq", flat=True))
    assert (
        seqs_of() == seqs_of(since=today, until=today) == seqs_of(agent="rehearsal") == everything
    )
    assert seqs_of(by=bob.user_id) == by_bob
    assert len(seqs_of(by=bob.user_id, action="interrupt.resolved")) == 1
    assert seqs_of(action="interrupt.resolved") == seqs_of(
        by=bob.user_id, action="interrupt.resolved"
    )
    assert seqs_of(q="approved TRUE bob") == seqs_of(action="interrupt.resolved")
    assert seqs_of(tool=call.name) == seqs_of(decision="approved") != everything
    assert seqs_of(team="others") == seqs_of(agent="other") == seqs_of(decision="denied") == set()
    assert (
        seqs_of(until="2020-01-01")
        == seqs_of(since="2999-01-01")
        == seqs_of(q="unheard-of")
        == set()
    )


def test_a_page_of_entries_goes_on_behind_the_last(log, admin):
    entries = all_of(admin, "/api/audit", limit=7)

    assert len(entries) == AuditEntry.objects.filter(team__slug="tests").count()
    assert [entry["id"] for entry in entries] == sorted(
        (entry["id"] for entry in entries), reverse=True
    )


def test_a_search_without_an_index_is_bounded_and_goes_on(log, reader, monkeypatch):
    monkeypatch.setattr(merge_pages, "MAX_ROWS_SEARCHED", 10)
    first = read(reader, "/api/audit", q="unheard-of")
    assert (first["results"], first["next_after"] is None) == ([], False)

    entries = all_of(reader, "/api/audit", q="bob", limit=7)

    monkeypatch.undo()
    assert len(entries) > 10
    assert entries == all_of(reader, "/api/audit", q="bob", limit=7)


def test_what_the_team_does_with_itself_is_for_administrators(log, world, reader, admin):
    add_webhook(
        team_id=world.team.pk,
        url="https://hooks.example.com/a-secret-path",
        event_types=["run.finished"],
        actor=SEED,
    )

    assert all_of(admin, "/api/audit", action="webhook.added")
    assert all_of(reader, "/api/audit", action="webhook.added") == []
    assert None not in {entry["thread"] for entry in all_of(reader, "/api/audit", limit=7)}
    entry_count = AuditEntry.objects.filter(team=world.team, thread__isnull=False).count()
    assert len(all_of(reader, "/api/audit")) == entry_count


def test_nobody_finds_what_is_not_theirs(log, world, key_with):
    from inbox.queries.people.teams import team_by_slug

    stranger = key_with("read", team=team_by_slug("others"))
    other = ensure_agent(
        team=world.team, slug="other", implementation="rehearsal", description="", actor=SEED
    )
    run = start(world, "rehearse:echo", agent=other)
    _, token = make_key(
        team_id=world.team.pk,
        name="agents-own",
        scopes={Permission.READ},
        agent=other.slug,
        actor=SEED,
    )
    own = Caller(token)

    assert {entry["team"] for entry in all_of(stranger, "/api/audit")} <= {"others"}
    assert all_of(stranger, "/api/tool-calls") == []
    assert {entry["thread"] for entry in all_of(own, "/api/audit")} == {str(run.thread_id)}


def test_a_secret_is_neither_shown_nor_found(world, bob, reader, key_with):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload={"approved": False, "editedArgs": {"password": "hunter2"}},
        view_digest=interrupt.view_digest,
        actor=bob,
        entrance=Entrance.REST,
    )

    (masked,) = read(reader, "/api/audit", action="interrupt.resolved")["results"]
    (resolved,) = read(key_with("read", "decide"), "/api/audit", action="interrupt.resolved")[
        "results"
    ]

    assert "hunter2" in json.dumps(resolved)
    assert "hunter2" not in json.dumps(masked)
    assert all_of(reader, "/api/audit", q="hunter2") == []
    assert all_of(reader, "/api/audit", q="password", action="interrupt.resolved") == [masked]


@pytest.mark.parametrize("path", ["/api/audit", "/api/tool-calls"])
@pytest.mark.parametrize("guess", ["hunter2", "hunter3"])
def test_the_end_of_a_page_tells_nothing_of_masked_values(world, bob, reader, path, guess):
    """A page of one with a next page would confirm a guess, though it shows nothing."""
    for _ in range(3):
        (interrupt,) = open_interrupts(start(world, "rehearse:tool_call"))
        denial = {"approved": False, "editedArgs": {"password": "hunter2"}}
        steps.answer(interrupt, bob, denial)
    ToolCall.objects.update(args='{"password":"hunter2","note":"visible"}')

    page = read(reader, path, q=guess, limit=1)

    assert (page["results"], page["next_after"]) == ([], None)


def test_a_page_is_filled_behind_matches_by_masked_values(world, reader):
    calls = [open_interrupts(start(world, "rehearse:tool_call"))[0].tool_call for _ in range(5)]
    ToolCall.objects.update(args='{"password":"otter"}')
    ToolCall.objects.filter(pk=calls[0].pk).update(args='{"animal":"otter"}')

    page = read(reader, "/api/tool-calls", q="otter", limit=1)

    assert [tool_call["id"] for tool_call in page["results"]] == [str(calls[0].pk)]
    assert page["next_after"] is None


@pytest.mark.parametrize("path", ["/api/audit", "/api/tool-calls"])
@pytest.mark.parametrize("query", ["decision=perhaps", "since=yesterday", "after=first"])
def test_nonsense_is_refused(reader, path, query):
    answer = reader.get(f"{path}?{query}")

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("path", ["/api/audit", "/api/tool-calls", "/api/interrupts"])
def test_more_words_than_are_looked_for_are_refused(reader, path):
    answer = reader.get(f"{path}?q={'+'.join('abcdefghijk')}")

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_VALUE")


def test_tool_calls_are_found_as_on_their_page(log, reader, world, bob, monkeypatch):
    tool_calls = all_of(reader, "/api/tool-calls", limit=2)
    assert [tool_call["id"] for tool_call in tool_calls] == [
        str(pk) for pk in ToolCall.objects.order_by("-pk").values_list("pk", flat=True)
    ]
    assert {tool_call["decision"] for tool_call in tool_calls} == {"approved"}
    assert {tool_call["decided_by"] for tool_call in tool_calls} == {str(bob.user_id)}
    assert tool_calls == all_of(reader, "/api/tool-calls", by=bob.user_id, decision="approved")
    assert all_of(reader, "/api/tool-calls", decision="none") == []

    monkeypatch.setattr(merge_pages, "MAX_ROWS_SEARCHED", 2)
    assert tool_calls == all_of(reader, "/api/tool-calls", q=tool_calls[0]["tool"])


def test_everybody_says_the_same_of_calls_that_never_ran(
    auditor, admin, world, bob, settings, client
):
    run = start(world, "rehearse:tool_call")
    approved = open_interrupts(run)[0]
    steps.approve(approved, bob)
    resumed_run(run)
    run = start(world, "rehearse:tool_call")
    denied = open_interrupts(run)[0]
    steps.deny(denied, bob)
    resumed_run(run)
    limit_teams(settings, open_requests=2)
    failed = start(world, "rehearse:parallel3")
    transparency_log.append_and_sign()

    table = rows(export(admin, format="csv"))
    tool_calls = {tool_call["id"]: tool_call for tool_call in all_of(admin, "/api/tool-calls")}
    starts = [json.loads(row["detail"]) for row in table if row["action"] == "tool.started"]
    client.force_login(world.bob)
    never_ran = [denied.tool_call, *ToolCall.objects.filter(run=failed)]
    ran = str(approved.tool_call.pk)

    assert [start["tool_call_id"] for start in starts] == [tool_calls[ran]["tool_call_id"]]
    assert tool_calls[ran]["executed_args"] is not None
    assert len(never_ran) == 4
    for call in never_ran:
        row = tool_calls[str(call.pk)]
        assert (row["executed_args"], row["started_at"], row["result"]) == (None, None, None)
        assert row["state"] in ("proposed", "not_run")
        assert "Ran without approval" not in words(client.get(f"/audit/calls/{call.pk}/"))


def test_entries_are_read_without_the_arguments_of_their_requests(log, bob):
    page = entries_for(bob, EntryFilter())

    interrupts = [row.interrupt for row in page.rows if row.interrupt]
    assert interrupts
    for interrupt in interrupts:
        assert {"args", "body", "search_text"} <= interrupt.get_deferred_fields()
        assert not {"title", "message"} & interrupt.get_deferred_fields()


# -- exporting ------------------------------------------------------------------------------------


def test_an_export_of_a_team_convinces_the_script_that_stands_alone(log, auditor, admin, tmp_path):
    data = export(admin)

    status, report = verified(tmp_path, auditor, data)

    assert (status, report["verdict"], report["findings"]) == (0, "intact", [])
    of_team = AuditEntry.objects.filter(team__slug="tests", leaf__isnull=False)
    assert report["entries"] == report["sealed"] == of_team.count()


def test_an_export_of_a_thread_does_so_as_well_and_no_forged_one(log, auditor, admin, tmp_path):
    data = export(admin, thread=str(log[0].thread_id))  # whose names and texts are erased
    assert verified(tmp_path, auditor, data)[0] == 0

    assert verified(tmp_path, auditor, data.replace(b"run.started", b"run.stopped", 1))[0] == 1


def test_an_export_is_the_same_byte_by_byte_for_the_same_checkpoint(log, auditor, admin, world):
    size = AuditCheckpoint.objects.latest("size").size
    first, table = export(admin), export(admin, format="csv")
    start(world, "rehearse:echo")
    transparency_log.append_and_sign()

    assert export(admin, checkpoint=size) == first != export(admin)
    assert export(admin, checkpoint=size, format="csv") == table
    assert export(admin, status=404, checkpoint=size + 10_000)["code"] == "NOT_FOUND"


def test_what_was_erased_does_not_come_back(log, auditor, admin, world, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    steps.approve(interrupt, bob, editedArgs={**json.loads(interrupt.args), "subject": "A secret"})
    transparency_log.append_and_sign()
    both = [{"thread": str(run.thread_id), "format": form} for form in ("jsonl", "csv")]
    assert all(b"A secret" in export(admin, **query) for query in both)

    erase_thread(thread_id=run.thread_id, reason="asked for", actor=SEED)
    transparency_log.append_and_sign()

    assert not [query for query in both if b"A secret" in export(admin, **query)]
    assert {row["erased"] for row in rows(export(admin, **both[1]))} == {"yes", ""}


@pytest.mark.parametrize(
    "fields", [{"action": "run.started"}, {"decision": "approved"}, {"q": "bob"}]
)
def test_an_export_convinces_whatever_it_is_narrowed_to(log, auditor, admin, tmp_path, fields):
    row_count = len(rows(export(admin, format="csv")))  # of which some is erased

    status, report = verified(tmp_path, auditor, export(admin, **fields))

    assert (status, report["findings"], report["doubts"]) == (0, [], [])
    assert 0 < report["sealed"] < row_count


def test_without_a_checkpoint_or_a_key_nothing_is_exported(world, auditor, admin, settings):
    assert export(admin, status=409)["code"] == "NOT_SEALED"
    transparency_log.append_and_sign()
    settings.AUDIT_KEY_FILE.unlink()

    assert export(admin, status=409)["code"] == "NOT_SEALED"
    assert not AuditEntry.objects.filter(action="audit.exported").exists()
    assert rows(export(admin, format="csv"))


def test_each_export_is_in_the_trail_with_what_was_exported(log, auditor, admin):
    size = AuditCheckpoint.objects.latest("size").size
    thread = str(log[1].thread_id)
    table = rows(export(admin, format="csv", action="run.started", since="2020-01-01"))
    export(admin, thread=thread)

    of_team, of_thread = AuditEntry.objects.filter(action="audit.exported").order_by("pk")

    assert of_team.content["detail"] == {
        "format": "csv",
        "filter": {"action": "run.started", "since": "2020-01-01"},
        "entries": len(table),
        "checkpoint": size,
    }
    assert of_team.chain == of_team.team_id
    assert str(of_thread.chain) == of_thread.content["detail"]["filter"]["thread"] == thread
    assert (
        of_thread.content["detail"]["entries"]
        == AuditEntry.objects.filter(chain=thread, leaf__isnull=False).count()
    )


def test_only_who_reads_and_administers_exports(log, auditor, key_with, admin):
    for scopes in (("read",), ("admin",), ("run", "decide", "read")):
        assert export(key_with(*scopes), status=403)["code"] == "FORBIDDEN"
    assert export(key_with("read", "admin")) == export(admin)

    assert not AuditEntry.objects.filter(action="audit.exported", actor_id="").exists()
    assert AuditEntry.objects.filter(action="audit.exported").count() == 2


def test_a_stranger_exports_nothing(log, auditor, key_with):
    from inbox.queries.people.teams import team_by_slug

    stranger = key_with("read", "admin", team=team_by_slug("others"))

    assert export(stranger, status=404, team="tests")["code"] == "NOT_FOUND"
    assert export(stranger, status=404, thread=str(log[0].thread_id))["code"] == "NOT_FOUND"
    assert {row["team"] for row in rows(export(stranger, format="csv"))} == {"others"}


@pytest.mark.parametrize(
    "begin", ["=", "+", "-", "@", "\t", "\r", "\uff1d", " =", "\xa0=", "\u200b@", "\ufeff +", "\n-"]
)
def test_no_cell_is_a_formula(begin):
    assert rules.as_cell(f'{begin}HYPERLINK("https://example.com")').startswith("'")
    assert rules.as_cell(f"a{begin}b") == f"a{begin}b"


def test_a_table_holds_whatever_people_and_agents_write(log, auditor, admin, world, bob):
    run = start(world, "rehearse:tool_call")
    (interrupt,) = open_interrupts(run)
    note = 'no; "never"\r\n=1+1,ü\u202e'
    payload = {"approved": False, "reason": note}
    decide(
        interrupt_id=interrupt.pk,
        status=EntryStatus.RESOLVED,
        payload=payload,
        view_digest=interrupt.view_digest,
        actor=bob,
        entrance=Entrance.REST,
    )
    world.bob.first_name, world.bob.last_name = "=cmd|' /C calc'!A0", ""
    world.bob.save()
    steps.start(world, "rehearse:echo", actor=world.actor(world.bob))
    transparency_log.append_and_sign()

    data = export(admin, format="csv")

    assert data.startswith(b"\xef\xbb\xbfposition,team,")
    (denied,) = [row for row in rows(data) if row["run"] == str(run.pk) and row["before"] == "open"]
    assert json.loads(denied["detail"])["payload"] == payload
    (started,) = [row for row in rows(data) if row["actor"].startswith("'=cmd")]
    assert started["action"] == "run.started"


def test_an_export_that_would_be_too_large_says_what_to_ask_for(log, auditor, admin, monkeypatch):
    monkeypatch.setattr(rules, "MAX_ENTRIES", 3)

    problem = export(admin, status=422)

    assert "the limit is 3. Choose fewer days" in problem["detail"]
    assert not AuditEntry.objects.filter(action="audit.exported").exists()


def test_an_export_reads_little_at_a_time(log, auditor, admin, world, monkeypatch):
    monkeypatch.setattr(trail, "_PART_CHUNK", 5)
    monkeypatch.setattr(exporting, "_CHUNK_BYTES", 1_000)
    exported = export(admin)
    answer = admin.post("/api/audit/export", {"format": "jsonl"})

    parts = list(answer.streaming_content)

    assert b"".join(parts) == exported
