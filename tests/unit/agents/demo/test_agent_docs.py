"""Code in docs/agents.md, agui.md, adapters.md and changing-workflows.md works as printed."""

import re
import sys
from pathlib import Path

import pytest

from agents import registry
from tests.support.agents.doubles import Stage

DOCS = [
    Path(__file__).parents[4] / "docs" / name
    for name in ("agents.md", "agui.md", "adapters.md", "changing-workflows.md")
]
SNIPPETS = [
    snippet
    for path in DOCS
    for snippet in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
]
APPROVE = {"approved": True}


def run_snippet(containing):
    """What a snippet defines."""
    (text,) = [snippet for snippet in SNIPPETS if containing in snippet]
    names = {}
    exec(text, names)
    return names


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_every_snippet_runs(snippet):
    exec(snippet, {})


async def test_the_first_approval_takes_ten_lines(tmp_path, monkeypatch):
    (text,) = [snippet for snippet in SNIPPETS if "my_agents.py" in snippet]
    (tmp_path / "my_agents.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(registry.AGENTS_SETTING, "my_agents:bookkeeper")
    monkeypatch.setattr(registry, "_agents", {})
    stage = Stage(registry.get("bookkeeper"))

    await stage.say("go")
    (interrupt,) = stage.interrupts
    await stage.answer(APPROVE)

    sys.modules.pop("my_agents")
    code = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(code) <= 10
    assert interrupt.message == "Send 860.5 EUR to Kestrel GmbH"
    assert stage.text == "paid 860.5 EUR to Kestrel GmbH"


async def test_the_wizard_welcomes():
    stage = Stage(run_snippet("async def wizard")["wizard"])

    await stage.say("go")
    await stage.answer("Ana")

    assert stage.text == "Welcome, Ana."


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (APPROVE, {"ok": True, "paid": "42 EUR"}),
        ({"approved": False}, {"ok": False, "error": "The payment was not approved."}),
    ],
)
async def test_the_adapter_pays_after_approval_only(answer, result):
    stage = Stage(run_snippet("class PaymentAgent")["payments"])

    await stage.say("go")
    (interrupt,) = stage.interrupts
    await stage.answer(answer)

    assert interrupt.message == "Pay 42 EUR?"
    assert stage.results == [result]
    assert stage.outcome == "success"
