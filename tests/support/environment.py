"""
Data of its own for each process that runs tests.

Loaded as a plugin, because Django's settings are read before any conftest is.
"""

import atexit
import os
import shutil
import tempfile

#: Set by `make test-all` for generated tests, and by `make test-release` for accessibility.
IS_FULL = bool(os.environ.get("SIGNOFF_TEST_FULL"))

_directory = tempfile.mkdtemp(prefix="signoff-tests-")
atexit.register(shutil.rmtree, _directory, ignore_errors=True)
os.environ["SIGNOFF_DATA_DIR"] = _directory
# An identity provider that is down, so that what only sites with one have is tested as well.
os.environ["SIGNOFF_OIDC"] = (
    '{"id": "corp", "name": "Example Corp", "issuer": "http://127.0.0.1:1",'
    ' "client_id": "signoff", "client_secret": "not-a-secret"}'
)
os.environ["SIGNOFF_LEDGER"] = f"{_directory}/ledger.sqlite3"
