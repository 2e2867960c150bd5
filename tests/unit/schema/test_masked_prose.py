"""Secrets in texts for people, such as those of exceptions, are masked; prose is not."""

import pytest

from inbox.rules.schema.secrets import MASK, masked_prose


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("connect(user='bob', password='hunter2')", f"connect(user='bob', password='{MASK}')"),
        ("password=hunter2", f"password={MASK}"),
        ("GET /v1?token=abc&page=2", f"GET /v1?token={MASK}&page=2"),
        ("url=https://x.example/?api_key=abc", f"url=https://x.example/?api_key={MASK}"),
        ("DB_PASSWORD=hunter2 failed", f"DB_PASSWORD={MASK} failed"),
        ("self.token = 'abcdef'", f"self.token = '{MASK}'"),
        ("{'password': 'hunter2', 'user': 'bob'}", f"{{'password': '{MASK}', 'user': 'bob'}}"),
        (r"{'password': 'it\'s mine'}", f"{{'password': '{MASK}'}}"),
        ("X-Api-Key: 7f3c9a10b2", f"X-Api-Key: {MASK}"),
        ("Authorization: Bearer abcdef", f"Authorization: Bearer {MASK}"),
        ("'authorization': 'Basic Ym9iOnB3'", f"'authorization': '{MASK}'"),
        ("sent Bearer eyJhbGciOi.J9.x-_1 twice", f"sent Bearer {MASK} twice"),
        ("postgres://bob:hunter2@db/x", f"postgres://bob:{MASK}@db/x"),
        ("redis://:p@ss@cache:6379/0", f"redis://:{MASK}@cache:6379/0"),
        ("a=1 token=abc, secret=def", f"a=1 token={MASK}, secret={MASK}"),
        ("max_tokens=5 password=x\nline 2", f"max_tokens=5 password={MASK}\nline 2"),
        ('failed: {"a": 1, "password": "hun', f'failed: {{"a": 1, "password": {MASK} …'),
    ],
)
def test_secrets_in_the_text_of_an_exception_are_masked(text, masked):
    assert masked_prose(text) == masked
    assert masked_prose(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "LookupError: no order 88121",
        "ValueError: invalid token: expected a name",
        "SyntaxError: Unexpected token: ')'",
        "password: must have 8 characters",
        "TypeError: connect() got password=None",
        "client = Client(token=read_token())",
        "if token == expected:",
        "max_tokens=4096",
        "Bearer authentication failed",
        "basic checks passed",
        "https://example.com:8443/a@b and bob@example.com",
        "ssh://git@example.com/repo",
        "broken.py:14 in broken print(1 / 0)",
        "card_title=Ace",
    ],
)
def test_prose_about_secrets_is_not_masked(text):
    assert masked_prose(text) == text


def test_long_hostile_texts_are_masked_in_time():
    for text in ("a" * 4_000, "token " * 700, "'" * 4_000, "a:" * 2_000, "bearer " * 570):
        assert len(masked_prose(text)) < 10 * len(text)
