"""
A pytest plugin that writes what servers and clients can do to results.json: `make servers`.

A test says `@pytest.mark.capability("edit")`: the capability works if it passes. With
`by="may_edit"` that member of its framework says if passing means that it works. A test of many
scenarios records the property `capability`: [row, version, capability, works].
"""

import json
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from tools import framework_matrix

_KEY: Final = "capability"


class Recorder:
    """The outcomes of one run of the tests, by server, version and capability."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and not report.failed:
            return
        for key, value in report.user_properties:
            if key == _KEY:
                server, version, capability, works = value
                outcome = "yes" if report.passed and works else "no"
                self._outcomes[server, version][capability].add(outcome)

    def pytest_sessionfinish(self) -> None:
        results = framework_matrix.results()
        pins = {row.name: framework_matrix.pinned_version(row) for row in framework_matrix.ROWS}
        for (server, version), outcomes in self._outcomes.items():
            earlier = results.get(server, {})
            # A version that is neither pinned nor of this run says nothing any more.
            results[server] = {
                name: row for name, row in earlier.items() if name in (version, pins[server])
            }
            results[server][version] = {
                **earlier.get(version, {}),
                **{name: min(words) for name, words in outcomes.items()},
                "date": datetime.now(UTC).date().isoformat(),
            }
        text = json.dumps(results, indent=1, sort_keys=True)
        framework_matrix.RESULTS.write_text(f"{text}\n")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder())


def pytest_runtest_setup(item: Any) -> None:
    for mark in item.iter_markers(_KEY):
        framework = item.callspec.params["framework"]
        works = getattr(framework, mark.kwargs["by"]) if "by" in mark.kwargs else True
        value = [framework.server, framework.version(), mark.args[0], works]
        item.user_properties.append((_KEY, value))
