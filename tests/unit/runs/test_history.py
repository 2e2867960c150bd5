"""Messages that clients send again, against those that the thread keeps."""

import pytest

from inbox.rules.errors import HistoryChanged
from inbox.rules.runs.history import check_not_cut, check_unchanged
from inbox.rules.schema.secrets import MASK

ASK = {"id": "u1", "role": "user", "content": "Send the invoice"}
REPLY = {"id": "a1", "role": "assistant", "content": "Sent to Kim.", "toolCalls": None}
RESULT = {"id": "r1", "role": "tool", "content": "ok", "toolCallId": "c1"}
PROGRESS = {"id": "p1", "role": "activity", "content": {"done": 1}}
PICTURE = {"type": "image", "source": {"type": "url", "value": "https://a.example/1.png"}}
SHOWN = {"id": "u2", "role": "user", "content": [{"type": "text", "text": "See"}, PICTURE]}
STORED = [ASK, REPLY, RESULT, SHOWN, PROGRESS]


def with_content(message, content):
    return {**message, "content": content}


@pytest.mark.parametrize(
    "message",
    [
        ASK,
        REPLY,
        {**REPLY, "toolCalls": []},
        with_content(REPLY, "Sent to"),
        with_content(REPLY, " Sent to Kim.\n"),
        {"id": "a1", "role": "assistant"},
        SHOWN,
        with_content(SHOWN, [{"type": "text", "text": "See", "metadata": None}, PICTURE]),
        with_content(PROGRESS, {"done": 2}),
        with_content(ASK, [{"type": "text", "text": "Send the invoice"}]),
        with_content(RESULT, f'{{"password": "{MASK}"}}'),
        with_content(RESULT, '"ok"'),
        with_content(RESULT, [{"type": "text", "text": MASK}]),
        with_content(REPLY, f"The password is {MASK}."),
        {"id": "new", "role": "user", "content": "Something else"},
    ],
)
def test_what_was_said_is_no_change(message):
    check_unchanged(stored=STORED, sent=[message])


@pytest.mark.parametrize(
    "message",
    [
        with_content(ASK, "Send the reminder"),
        with_content(ASK, "Send"),
        with_content(ASK, ""),
        {**ASK, "role": "system"},
        with_content(REPLY, "Sent to Kim and Per."),
        with_content(SHOWN, [{"type": "text", "text": "See"}]),
        with_content(SHOWN, "See"),
        with_content(RESULT, "not ok"),
        with_content(RESULT, ""),
    ],
)
def test_another_content_under_a_known_id_is_a_change(message):
    with pytest.raises(HistoryChanged, match="keep what was said"):
        check_unchanged(stored=STORED, sent=[ASK, message])


def test_one_of_two_messages_with_the_same_id_is_enough():
    twice = [RESULT, with_content(RESULT, "again")]

    check_unchanged(stored=twice, sent=twice)


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [ASK, REPLY, RESULT, SHOWN],
        [SHOWN],
        [ASK, {"id": "u3", "role": "user", "content": "Thanks"}],
    ],
)
def test_messages_up_to_the_last_one_or_a_new_one_are_not_cut(sent):
    check_not_cut(stored=STORED, sent=sent)


@pytest.mark.parametrize("sent", [[ASK], [ASK, REPLY], [ASK, REPLY, RESULT]])
def test_messages_that_end_earlier_are_cut(sent):
    with pytest.raises(HistoryChanged, match="generated anew"):
        check_not_cut(stored=STORED, sent=sent)


def test_nothing_is_cut_on_an_empty_thread():
    check_not_cut(stored=[], sent=[])
