"""Lists of the admin: what they find, and that nothing in them is counted."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inbox.admin import site
from inbox.models import AuditEntry, Thread
from tests.support.steps import start
from tests.support.web.pages import words

HISTORY = [page for page in site._registry.values() if type(page).__module__.endswith("history")]
THREADS = "/admin/inbox/thread/"


@pytest.fixture
def threads(world):
    """More than two pages of them, by number."""
    now = timezone.now()
    rows = [
        Thread(
            team=world.team,
            agent=world.agent,
            external_id=f"thread-{number:03}",
            created_at=now,
            updated_at=now,
        )
        for number in range(230)
    ]
    return Thread.objects.bulk_create(rows)


def row_ids(answer):
    return re.findall(r">thread-(\d{3})<", answer.content.decode())


def follow(client, answer, word):
    """Follow a link of the list's foot."""
    (query,) = re.findall(rf'href="(\?[^"]*)">{word}<', answer.content.decode())
    return client.get(THREADS + query.replace("&amp;", "&"))


def test_a_list_is_read_from_the_newest_to_the_oldest(threads, admin):
    first = admin.get(THREADS)
    second = follow(admin, first, "Older")
    third = follow(admin, second, "Older")

    read = [*row_ids(first), *row_ids(second), *row_ids(third)]
    assert read == [f"{number:03}" for number in reversed(range(230))]
    assert ">Older<" not in third.content.decode()
    assert row_ids(follow(admin, third, "Newest")) == row_ids(first)


def test_a_filter_and_a_search_hold_on_older_pages(threads, admin, world):
    first = admin.get(f"{THREADS}?team__id__exact={world.team.pk}&q=thread-1")
    assert row_ids(first) == [f"{number:03}" for number in reversed(range(100, 200))]

    elsewhere = Thread.objects.exclude(team=world.team)
    assert not elsewhere.exists()
    other = world.carol.memberships.get().team_id
    assert row_ids(admin.get(f"{THREADS}?team__id__exact={other}")) == []


def test_a_thing_is_found_by_its_id_and_by_that_of_what_it_belongs_to(world, admin):
    run = start(world, "rehearse:tool_call")
    start(world, "rehearse:tool_call")

    for model, count in (("run", 1), ("toolcall", 1), ("interrupt", 1), ("auditentry", None)):
        response = admin.get(f"/admin/inbox/{model}/?q={run.thread_id}")
        rows = re.findall(r'<th class="field-', response.content.decode())
        assert len(rows) == (count or AuditEntry.objects.filter(thread=run.thread_id).count())


@pytest.mark.parametrize("page", HISTORY, ids=lambda page: page.opts.model_name)
def test_history_is_narrowed_by_columns_of_its_own(page):
    assert [name for name in page.list_filter if "__" in name] == []


def test_the_newest_of_a_team_are_read_in_the_order_of_an_index(threads, admin, world):
    for model in ("thread", "run", "toolcall", "interrupt", "auditentry"):
        with CaptureQueriesContext(connection) as done:
            admin.get(f"/admin/inbox/{model}/?team__id__exact={world.team.pk}")
        keys = next(query["sql"] for query in done if "LIMIT 101" in query["sql"])
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {keys}")
            plan = " ".join(row[3] for row in cursor.fetchall())
        assert "INDEX" in plan, (model, plan)
        assert "TEMP B-TREE" not in plan, (model, plan)


@pytest.mark.parametrize("page", site._registry.values(), ids=lambda page: page.opts.model_name)
def test_no_list_counts_or_skips_rows(page, world, admin):
    start(world, "rehearse:tool_call")
    address = f"/admin/{page.opts.app_label}/{page.opts.model_name}/"

    with CaptureQueriesContext(
        connection,
    ) as read:
        assert admin.get(address).status_code == 200
        assert admin.get(f"{address}?q=tests").status_code == 200

    statements = [query["sql"].upper() for query in read.captured_queries]
    assert statements
    assert [
        statement
        for statement in statements
        if "COUNT(" in statement or "OFFSET" in statement or "DISTINCT" in statement
    ] == []
    # Who is signed in, the rows, and what filters offer: not one query a row.
    assert len(statements) <= 20


def test_hidden_characters_are_spelled_out(threads, admin):
    Thread.objects.filter(pk=threads[-1].pk).update(title="pay \u202eeman <b>now</b>")

    page = admin.get(THREADS)

    assert "pay ⟨U+202E⟩eman <b>now</b>" in words(page)
    assert "\u202e" not in page.content.decode()
