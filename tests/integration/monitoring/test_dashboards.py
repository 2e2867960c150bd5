"""Dashboards, alert rules and docs name metrics that exist, and all of them."""

import json
import re
from pathlib import Path

import pytest
import yaml

from inbox.platform.monitoring.metrics import METERS, metrics
from inbox.queries.monitoring.exposition import metrics_page
from tests.support.monitoring.scrapes import Scrape

ROOT = Path(__file__).parents[3]
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DOCS = ROOT / "docs" / "monitoring.md"
#: Metrics of PostgreSQL and Redis, which a test on SQLite does not have.
OF_SERVERS = {
    "signoff_database_connections",
    "signoff_database_waiting",
    "signoff_broker_messages",
}
#: What the expressions of PromQL have besides names of metrics.
_METRIC = re.compile(r"\b(signoff_\w+|process_\w+)")


@pytest.fixture
def exported(db, world):
    """The names of samples, with those of meters that have counted nothing yet."""
    metrics.enable()
    suffixes = {"Counter": ("_total",), "Gauge": ("",), "Histogram": ("_bucket", "_count", "_sum")}
    meters = {meter.name + suffix for meter in METERS for suffix in suffixes[meter.kind]}
    # Gauges without a value, such as the age of the last sweep, have their family only.
    families = set(re.findall(r"^# TYPE (\w+)", metrics_page().decode(), flags=re.M))
    return Scrape(metrics_page().decode()).names | meters | families | OF_SERVERS


def expressions_of(dashboard):
    return [
        target["expr"]
        for panel in json.loads(dashboard.read_text())["panels"]
        for target in panel["targets"]
    ]


def rules():
    return [
        rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
    ]


def test_dashboards_and_alerts_use_metrics_that_exist(exported):
    expressions = [expr for path in DASHBOARDS for expr in expressions_of(path)]
    expressions += [rule["expr"] for rule in rules()]

    used = {name for expr in expressions for name in _METRIC.findall(expr)}

    assert len(DASHBOARDS) == 2
    assert used - exported == set()


def test_every_metric_is_on_a_dashboard_and_in_the_docs(exported):
    displayed_names = " ".join(expr for path in DASHBOARDS for expr in expressions_of(path))
    docs = DOCS.read_text()
    families = {re.sub(r"_(total|bucket|count|sum|created)$", "", name) for name in exported}
    ours = {name for name in families if name.startswith("signoff_")}

    assert [name for name in sorted(ours) if name not in displayed_names] == []
    assert [name for name in sorted(ours) if name not in docs] == []


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_has_what_grafana_needs(path):
    board = json.loads(path.read_text())

    assert board["uid"].startswith("signoff-")
    assert {"title", "schemaVersion", "templating", "time"} <= board.keys()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert panel["title"]
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters)


def test_alerts_have_a_severity_and_a_summary():
    names = [rule["alert"] for rule in rules()]

    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"]["summary"]
        assert rule["expr"].count("(") == rule["expr"].count(")")
