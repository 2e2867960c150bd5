"""Agents of other frameworks that wait, and a Signoff that is killed meanwhile."""

import httpx

from tests.e2e.frameworks.running import FRAMEWORKS
from tests.support.http.agui_client import (
    Door,
    interrupts,
    resume,
    run_input,
)
from tests.support.processes import embedded_environment, manage, start_embedded

REFUNDED = {"tool": "issue_refund", "args": {"order": "A1", "amount": 47.5}}


def test_what_was_asked_before_it_was_killed_is_answered_after_it(desks, tmp_path):
    running = {framework.name: desks(framework) for framework in FRAMEWORKS}
    environment = embedded_environment(tmp_path, SIGNOFF_PRIVATE_AGENT_HOSTS="127.0.0.1")
    with start_embedded(environment, log=tmp_path / "log", demo=True) as signoff:
        for name, desk in running.items():
            desk.forget()
            manage(environment, "add_remote_agent", name, f"{desk.url}/agui", "--team", "demo")
        key = _key(environment)
        events_by_name = {
            name: _door(signoff, key).run(run_input("refund"), name) for name in running
        }
        signoff.kill()

    with start_embedded(environment, log=tmp_path / "log") as signoff:
        door = _door(signoff, key)
        answers = {name: resume(events) for name, events in events_by_name.items()}
        ended = {name: door.run(answer, name) for name, answer in answers.items()}
        again = {name: door.run(answer, name) for name, answer in answers.items()}

    assert all(len(interrupts(events)) == 1 for events in events_by_name.values())
    for name, desk in running.items():
        for events in (ended[name], again[name]):
            assert events[-1]["outcome"] == {"type": "success"}, signoff.log_tail()
        assert desk.ran == [REFUNDED], name


def _key(environment):
    scopes = [part for scope in ("run", "read", "decide") for part in ("--scope", scope)]
    return manage(environment, "create_api_key", "--name", "tests", *scopes)


def _door(signoff, key):
    return Door(httpx.Client(base_url=signoff.url, timeout=20), key)
