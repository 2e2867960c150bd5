"""Every answer that a test of the API gets has to be one that its schema describes."""

from tests.support.http.openapi_responses import _only_described_answers

__all__ = ["_only_described_answers"]
