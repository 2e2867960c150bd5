"""Chat messages of every event with hostile texts: valid for the chats, and only with our links."""

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from django.utils.translation import override
from slack_sdk.models.blocks import Block

from inbox.actions.notifications.messages import Message
from inbox.queries.notifications.chat_messages import (
    MAX_NAME_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    MAX_VALUES,
    ApproveButton,
    Closing,
)
from inbox.queries.notifications.message_facts import MAX_ARGUMENTS, MAX_DETAILED, Item
from inbox.rules.decisions.outcomes import Outcome
from inbox.rules.notifications.events import CHAT_KINDS, CHOICES, ChannelKind
from inbox.rules.text.safe_text import escape_invisible
from inbox.sending.chats import build_payload
from tests.support.node import check_out, find_node
from tests.support.notifications.hostile_texts import HOSTILE_TEXTS

FOLDER = Path(__file__).parent / "chats"
SLACK = (ChannelKind.SLACK, ChannelKind.SLACK_APP)
OURS = "https://signoff.example.com/"
ID = UUID("01934f5e-7c10-7e4b-9a52-0d6c6a1f0001")


def message(kind, event, text, count=1, language="en", outcome=None):
    """A message in which everything that an agent or a person can choose is the text."""
    has_button = kind is ChannelKind.SLACK_APP and outcome is None
    value = escape_invisible(" ".join(text.split()))[:MAX_VALUE_CHARACTERS]
    values = [(value[:MAX_NAME_CHARACTERS] or "name", value)] * MAX_VALUES
    item = Item(
        interrupt_id=ID,
        kind=event,
        team=text[:80],
        agent="refund-desk",
        tool=text,
        requester=text,
        expires_at=datetime(2026, 12, 1, tzinfo=UTC),
        button=ApproveButton("0" * 64, values) if has_button else None,
        words=text[:300] if count <= MAX_DETAILED else "",
        arguments=[(text, text)] * MAX_ARGUMENTS if count <= MAX_DETAILED else [],
        closing=Closing(outcome, text, datetime(2026, 12, 1, tzinfo=UTC)) if outcome else None,
    )
    return Message(ID, 1, ID, kind, "", language, [item] * count)


@pytest.fixture(scope="module")
def payloads():
    """The messages by kind: all events, texts and languages, and one with too many requests."""
    from django.test import override_settings

    by_kind = {}
    with override_settings(PUBLIC_URL=OURS.rstrip("/")):
        for kind in CHAT_KINDS:
            rows = []
            for number, text in enumerate(HOSTILE_TEXTS):
                language = ("en", "de")[number % 2]
                with override(language):
                    rows += [
                        build_payload(message(kind, event, text, language=language))
                        for event in CHOICES
                    ]
                    rows.append(build_payload(message(kind, "opened", text, 30, language)))
                    outcome = list(Outcome)[number % len(Outcome)]
                    for count in (1, 3):
                        edited = message(kind, "opened", text, count, language, outcome)
                        rows.append(build_payload(edited))
            with override("en"):
                rows.append(build_payload(message(kind, "opened", "", 0)))
            by_kind[kind] = rows
    return by_kind


def strings(value):
    """Every text in a payload, with the name of its member."""
    if isinstance(value, dict):
        for name, member in value.items():
            for inner, text in strings(member):
                yield inner or name, text
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)
    elif isinstance(value, str):
        yield "", value


def test_there_are_enough_texts():
    assert len(set(HOSTILE_TEXTS)) >= 200


@pytest.mark.parametrize("kind", CHAT_KINDS)
def test_every_link_is_ours(payloads, kind):
    for payload in payloads[kind]:
        for name, text in strings(payload):
            if name == "$schema":
                continue
            for url in re.findall(r"[a-z]+://\S*", text):
                assert url.startswith(OURS), (name, text[:200])
            assert not re.search(r"www\.|\w@\w|mailto:\w+@", text), (name, text[:200])


@pytest.mark.parametrize("kind", SLACK)
def test_slack_reads_no_mention(payloads, kind):
    for payload in payloads[kind]:
        for name, text in strings(payload):
            assert not re.search(r"[<>]", text), (name, text[:200])
        kinds = {part.get("type") for part in _parts(payload["blocks"]) if "text" in part}
        assert "mrkdwn" not in kinds


def test_teams_reads_no_markdown(payloads):
    for payload in payloads[ChannelKind.TEAMS]:
        types = {part["type"] for part in _parts(payload["attachments"]) if "type" in part}
        assert types <= {"AdaptiveCard", "RichTextBlock", "TextRun", "ActionSet", "Action.OpenUrl"}


def test_discord_pings_nobody_and_values_are_code(payloads):
    for payload in payloads[ChannelKind.DISCORD]:
        assert payload["allowed_mentions"] == {"parse": []}
        for embed in payload["embeds"]:
            for field in embed.get("fields", ()):
                assert re.fullmatch(r"`[^`]+`", field["value"]), field
                assert len(field["value"]) <= 1024
            for line in embed.get("description", "").splitlines():
                assert re.fullmatch(r"`[^`]+`", line), line


def test_what_agents_write_is_code_in_compatible_chats(payloads):
    for payload in payloads[ChannelKind.SLACK_COMPATIBLE]:
        remaining_text = re.sub(r"`[^`\n]+`", "", payload["text"])
        assert not re.search(r"[<>@*_~`\[\]]", remaining_text.replace(OURS, "")), payload["text"][
            :300
        ]


@pytest.mark.parametrize("kind", SLACK)
def test_slack_blocks_are_within_the_limits_of_its_sdk(payloads, kind):
    for payload in payloads[kind]:
        blocks = Block.parse_all(payload["blocks"])
        assert len(blocks) == len(payload["blocks"]) <= 50
        for block in blocks:
            block.to_dict()  # checks the lengths


def test_buttons_say_nothing_that_an_agent_wrote(payloads):
    texts, values = set(), set()
    for payload in payloads[ChannelKind.SLACK_APP]:
        for part in _parts(payload["blocks"]):
            if part.get("type") == "button":
                texts.add(part["text"]["text"])
                values.add(part.get("value"))

    assert texts == {
        *("Approve", "Reject or review", "Open the request", "Open the inbox"),
        *("Genehmigen", "Ablehnen oder prüfen", "Anfrage öffnen", "Den Eingang öffnen"),
    }
    assert values == {None, f"{ID} {'0' * 64}"}


def test_a_closed_request_has_no_button(payloads):
    for payload in payloads[ChannelKind.SLACK_APP]:
        names = [part.get("action_id") for part in _parts(payload["blocks"])]
        is_closed = re.search(r"State: |Zustand: ", json.dumps(payload))
        assert not (is_closed and "approve" in names)


@pytest.mark.javascript
def test_slack_and_adaptive_cards_find_no_fault(payloads, tmp_path):
    node = find_node()
    scripts = check_out(FOLDER, into=tmp_path / "scripts", node=node)
    file = tmp_path / "payloads.json"
    file.write_text(
        json.dumps(
            {
                "slack": [payload for kind in SLACK for payload in payloads[kind]],
                "teams": payloads[ChannelKind.TEAMS],
            }
        )
    )

    done = subprocess.run(
        [node.node, scripts / "check.mjs", file],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    assert json.loads(done.stdout) == {"slack": [], "teams": []}


def _parts(value):
    """Every object in a payload."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _parts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _parts(member)
