"""Every answer that a test of the API gets has to be one that its schema describes."""

from tests.support.http.openapi_responses import _only_described_answers
from tests.support.http.rest_client import key_with

__all__ = ["_only_described_answers", "key_with"]
