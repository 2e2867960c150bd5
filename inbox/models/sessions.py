"""Sessions in the database, under keys that a database can be asked for."""

from django.contrib.sessions.backends import db


class SessionStore(db.SessionStore):
    """Takes no cookie for a key that could not be one: PostgreSQL takes no NUL."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key and key.isascii() and key.isalnum() and len(key) >= 8)
