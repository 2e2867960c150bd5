"""Metrics of a running product, as Prometheus reads them."""

import re
from collections.abc import Mapping

import httpx
from prometheus_client.parser import text_string_to_metric_families


class Scrape:
    """The samples of one page of metrics."""

    def __init__(self, text: str) -> None:
        families = text_string_to_metric_families(text)
        self.samples = [sample for family in families for sample in family.samples]
        self.names = {sample.name for sample in self.samples}

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the samples that have these labels; 0 without any."""
        return sum(
            sample.value
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def labels(self, name: str) -> list[Mapping[str, str]]:
        return [sample.labels for sample in self.samples if sample.name == name]


def scrape(url: str, token: str = "") -> Scrape:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.get(f"{url}/metrics", headers=headers, timeout=30, trust_env=False)
    answer.raise_for_status()
    # The parser reads the format of before, which has no escapes in names.
    return Scrape(re.sub(r"^# EOF$", "", answer.text, flags=re.M))
