"""Check that the responses of the API match its OpenAPI schema."""

from tests.support.http.openapi_responses import _only_described_answers

__all__ = ["_only_described_answers"]
