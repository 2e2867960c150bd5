"""
The demo with agents that raise the interrupts a run asks for:
`python -m tests.support.browser.staged serve`.

A run's `forwarded_props` carry a play, `{"says": "...", "asks": [...]}`; each ask is an interrupt
with `message`, `tool` and `args` (or neither), `schema`, `metadata`, and `minutes` to live. The
tools do nothing, but `charge_card` fails in the middle.
"""

import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import ag_ui.core as agui
from ag_ui.core import RunAgentInput

from agents import registry
from agents.agui.strict_json import dumps, loads
from agents.demo_agent import steps
from agents.port import Effect
from agents.sdk.scripted import ScriptedAgent, Step
from agents.sdk.step import StepContext
from agents.sdk.tools import Tool, ToolContext, tool

AGENTS = {
    "billing": "Sends invoices and refunds.",
    "support": "Answers customers.",
    "operations": "Looks after servers and names.",
}
#: The seconds that people can undo a decision; 0 by default, as most tests wait for what follows.
GRACE = "STAGED_GRACE_SECONDS"
_CHEAP_HASHER = "django.contrib.auth.hashers.MD5PasswordHasher"
_NAMES = ("send_email", "refund_payment", "update_dns", "delete_records", "publish_post")


def _do(call: ToolContext, **_args: Any) -> dict[str, Any]:
    return {"ok": True, "args": dict(call.args)}


@tool(effect=Effect.ONCE)
def charge_card(call: ToolContext, **_args: Any) -> None:
    """Fail when nobody can tell whether the card was charged."""
    raise ConnectionError("the other side hung up")


def _tool(name: str) -> Tool:
    return replace(tool(effect=Effect.IDEMPOTENT)(_do), name=name)


async def _ask(context: StepContext, *, play: dict[str, Any]) -> AsyncIterator[Any]:
    yield context.text_message(play["says"])
    for ask in play["asks"]:
        about = {}
        if "tool" in ask:
            about["tool_call_id"] = call_id = context.new_id("t")
            yield [
                agui.ToolCallStartEvent(tool_call_id=call_id, tool_call_name=ask["tool"]),
                agui.ToolCallArgsEvent(tool_call_id=call_id, delta=dumps(ask["args"])),
                agui.ToolCallEndEvent(tool_call_id=call_id),
            ]
        context.add_interrupt(
            "tool_call" if about else ask.get("reason", "input_required"),
            message=ask["message"],
            response_schema=ask.get("schema"),
            metadata=ask.get("metadata"),
            expires_in=timedelta(minutes=ask.get("minutes", 240)),
            **about,
        )


def _choose(run_input: RunAgentInput) -> str:
    return dumps(run_input.forwarded_props)


def _steps(script: str) -> Sequence[Step]:
    return [partial(_ask, play=loads(script)), steps.report_calls]


def register() -> None:
    tools = [*map(_tool, _NAMES), charge_card]
    for name, description in AGENTS.items():
        registry.register(ScriptedAgent(name, description, _choose, _steps, tools=tools))


def main() -> None:
    import django
    from django.conf import settings
    from django.core.management import call_command, execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    django.setup()
    # Hashing a password is slow on purpose: a second of every start and of every five sign-ins.
    settings.PASSWORD_HASHERS = [_CHEAP_HASHER, *settings.PASSWORD_HASHERS]
    register()

    from inbox.actions.people.members import change_team
    from inbox.actions.people.provisioning import ensure_agent, ensure_team
    from inbox.rules.people.access import SEED

    call_command("migrate", verbosity=0, interactive=False)
    team = ensure_team(slug="demo", name="Demo", actor=SEED)
    change_team(team_id=team.pk, grace_seconds=int(os.environ.get(GRACE, "0")), actor=SEED)
    for name, description in AGENTS.items():
        ensure_agent(team=team, slug=name, implementation=name, description=description, actor=SEED)
    execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
