"""REST: what the schema calls a text, an id, a number or a truth is that, and nothing like it."""

import pytest

NOWHERE = "01a1fb6c-7655-7927-b47c-ea3a19558245"
KEY = {"name": "ci", "scopes": ["read"]}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("teams/tests/keys", {**KEY, "name": 5}, "name"),
        ("teams/tests/keys", {**KEY, "expires_in_days": "90"}, "expires_in_days"),
        ("teams/tests/keys", {**KEY, "agent": " rehearsal"}, "agent"),
        ("audit/export", {"format": "csv", "agent": 7}, "agent"),
        ("interrupts/withdraw", {"ids": [True]}, "ids"),
        ("interrupts/withdraw", {"ids": [f"{{{NOWHERE}}}"]}, "ids"),
        ("interrupts/withdraw", {"ids": [f"urn:uuid:{NOWHERE}"]}, "ids"),
        ("runs", {"agent": "rehearsal", "message": "hello", "thread_id": "  "}, "thread_id"),
        (f"interrupts/{NOWHERE}/claim", {"take_over": "yes"}, "take_over"),
        (f"interrupts/{NOWHERE}/claim", {"take_over": 0}, "take_over"),
        (f"interrupts/{NOWHERE}/comments", {"text": 5}, "text"),
    ],
)
def test_nothing_is_taken_for_what_it_is_not(key_with, path, body, field):
    answer = key_with("read", "run", "decide", "admin").post(f"/api/{path}", body)

    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")
    assert list(answer.json()["problems"]) == [field]


def test_the_name_of_a_thread_stays_as_it_was_sent(key_with):
    started = {"agent": "rehearsal", "message": "rehearse:echo", "thread_id": " order 17 "}

    answer = key_with("read", "run").post("/api/runs", started)

    assert (answer.status_code, answer.json()["thread_id"]) == (202, " order 17 ")
