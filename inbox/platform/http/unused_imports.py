"""
Imports of REST framework that serve what Signoff does not use.

`rest_framework.compat` imports psycopg for serializers that are made from models, `requests` for
its test client and Pygments for its browsable API, whenever they are installed: 14 MB of a process
with SQLite. There is no setting for it, and no upstream issue. Remove this once compat imports them
when they are used.
"""

import sys

_UNUSED = ("django.contrib.postgres.fields", "requests", "pygments")


def skip_unused_imports() -> None:
    """Import REST framework's compat module as if the packages of these features were missing."""
    hidden = [name for name in _UNUSED if name not in sys.modules]
    # Python's way to say that there is no such module; others can import it afterwards.
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        import rest_framework.compat  # noqa: F401, PLC0415 - in this order
    finally:
        for name in hidden:
            del sys.modules[name]
