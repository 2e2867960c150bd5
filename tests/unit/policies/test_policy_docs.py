"""The documents in docs/policies.md are policies."""

import json
import re
from pathlib import Path

from inbox.rules.policies.language.document import parse_policy
from inbox.rules.policies.language.policy import Op
from tests.support.policies.documents import BERLIN

PAGE = (Path(__file__).parents[3] / "docs" / "policies.md").read_text()
EXAMPLES = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def test_every_example_is_a_policy():
    assert len(EXAMPLES) == 7
    for example in EXAMPLES:
        is_rule = "rules" not in example
        body = {"rules": [example], "calendars": {"day": BERLIN}} if is_rule else example

        assert parse_policy(body).rules


def test_every_operator_is_described():
    assert [op for op in Op if f"`{op.value}`" not in PAGE] == []
