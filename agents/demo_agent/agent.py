"""The demo agent (stored name: rehearsal): the last user message selects a scenario."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from ag_ui.core import RunAgentInput, UserMessage

from agents.demo_agent import steps
from agents.demo_agent.tools import TOOLS
from agents.sdk.chat import text_of
from agents.sdk.scripted import ScriptedAgent, Step
from agents.sdk.step import Clock

PREFIXES = ("rehearse:", "probe:")
MAX_PARALLEL = 1000
MAX_DELTAS = 100_000
MAX_SECONDS = 600
MAX_DELAY_MILLISECONDS = 60_000

_EMAIL = partial(steps.propose_emails, number=1)

_PLAIN: dict[str, Sequence[Step]] = {
    "error": [steps.fail],
    "tool_call": [_EMAIL, steps.report_calls],
    "parallel3": [partial(steps.propose_emails, number=3), steps.report_calls],
    "multi_step": [_EMAIL, steps.propose_deploy, steps.report_calls],
    "input_required": [steps.ask_filing, steps.report_answers],
    "confirmation": [steps.ask_confirmation, steps.report_answers],
    "custom_reason": [steps.hold_for_policy, steps.report_answers],
    "subagent": [steps.suspend_subagent, steps.report_answers],
    "ask": [steps.propose_question, steps.report_calls],
    "restart": [steps.propose_transfer, steps.report_calls],
    "client_tool": [steps.call_client_tool],
}


def _parallel(number: str) -> Sequence[Step]:
    count = _number(number, 1, MAX_PARALLEL)
    return [partial(steps.propose_emails, number=count), steps.report_calls]


def _stream(number: str, milliseconds: str = "0") -> Sequence[Step]:
    return [
        partial(
            steps.stream,
            number=_number(number, 0, MAX_DELTAS),
            milliseconds=_number(milliseconds, 0, MAX_DELAY_MILLISECONDS),
        )
    ]


def _sleep(seconds: str) -> Sequence[Step]:
    return [partial(steps.sleep, seconds=_number(seconds, 0, MAX_SECONDS))]


def _expires_soon(seconds: str = "1") -> Sequence[Step]:
    expires_in = timedelta(seconds=_number(seconds, 1, MAX_SECONDS))
    return [partial(_EMAIL, expires_in=expires_in), steps.report_calls]


def _effect(*key: str) -> Sequence[Step]:
    if not any(key):
        raise ValueError("effect needs a key")
    return [partial(steps.propose_charge, key=":".join(key)), steps.report_calls]


_WITH_SETTINGS: dict[str, Callable[..., Sequence[Step]]] = {
    "parallel": _parallel,
    "stream": _stream,
    "sleep": _sleep,
    "effect": _effect,
    "expires_soon": _expires_soon,
}

HELP = f"""I know these scenarios; write one of them behind rehearse: or probe:
{", ".join(("echo", *_PLAIN))},
parallel:<1 to {MAX_PARALLEL}>, stream:<0 to {MAX_DELTAS}>, stream:<deltas>:<milliseconds apart>,
sleep:<0 to {MAX_SECONDS} seconds>, expires_soon:<1 to {MAX_SECONDS} seconds>, effect:<key>"""


#: The form to start the agent with.
INPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "scenario": {
            "title": "Scenario",
            "oneOf": [
                {"const": "tool_call", "title": "Approve an e-mail"},
                {"const": "parallel3", "title": "Approve three e-mails at once"},
                {"const": "multi_step", "title": "Approve two steps, one after the other"},
                {"const": "input_required", "title": "Fill in a form"},
                {"const": "confirmation", "title": "Say yes or no"},
                {"const": "custom_reason", "title": "Release what a policy holds"},
                {"const": "ask", "title": "Answer a question"},
                {"const": "restart", "title": "Let a large transfer go on"},
                {"const": "effect:demo", "title": "Approve a charge that must happen once"},
                {"const": "stream:200:20", "title": "Watch a text being written"},
                {"const": "error", "title": "Watch a run fail"},
            ],
        }
    },
    "required": ["scenario"],
}


def build(clock: Clock | None = None) -> ScriptedAgent:
    """Build the agent, in tests with another clock."""
    return ScriptedAgent(
        name="rehearsal",
        description="Plays scripted scenarios without a model, to try out and to test clients.",
        tools=TOOLS,
        choose=find_text,
        steps=find_steps,
        input_schema=INPUT_SCHEMA,
        clock=clock or Clock(),
    )


def find_steps(text: str) -> Sequence[Step]:
    """Return the steps for a user message: echo without a prefix, help for an unknown scenario."""
    message = text.strip()
    prefix = next((prefix for prefix in PREFIXES if message.startswith(prefix)), None)
    if prefix is None:
        return [partial(steps.echo, text=message or "(nothing)")]
    name, *settings = message.removeprefix(prefix).strip().split(":")
    if name == "echo":
        return [partial(steps.echo, text=message)]
    if not settings and name in _PLAIN:
        return _PLAIN[name]
    try:
        return _WITH_SETTINGS[name](*settings)
    except (
        KeyError,
        TypeError,
        ValueError,
    ):  # unknown scenario, wrong number of settings, or not a number
        return [partial(steps.echo, text=HELP)]


def find_text(run_input: RunAgentInput) -> str:
    """Return the text that selects the scenario: from the form, else the last message."""
    props = run_input.forwarded_props
    form = props.get("input") if isinstance(props, dict) else None
    scenario = form.get("scenario") if isinstance(form, dict) else None
    return f"{PREFIXES[0]}{scenario}" if isinstance(scenario, str) else last_user_text(run_input)


def last_user_text(run_input: RunAgentInput) -> str:
    """Return the text of the last user message, its parts joined; empty if there is none."""
    for message in reversed(run_input.messages):
        if isinstance(message, UserMessage):
            return text_of(message.content)
    return ""


def _number(text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise ValueError(f"'{text[:20]}' is not a number from {least} to {most}")
    return int(text)
