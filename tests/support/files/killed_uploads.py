"""
A program that kills processes while they send, replace and erase files, and counts what is left.

`python -m tests.support.files.killed_uploads NUMBER` prints how many were killed, and the orphans
and broken references after a sweep, as JSON. It needs a migrated database of its own.
"""

import json
import os
import random
import signal
import sys
import time
from datetime import timedelta
from typing import Any

import django

SIZE = 1_500_000


def main(number: int) -> None:
    django.setup()
    from django.conf import settings

    from tests.conftest import make_world

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.DATABASES["default"]["CONN_MAX_AGE"] = 0
    world = make_world()
    admin = _admin_key(world)
    _work(world.key, admin, 0)  # imports what a child would import, and shows how long it takes
    started = time.monotonic()
    _work(world.key, admin, 1)
    seconds = time.monotonic() - started
    _close_connections()
    killed = sum(_is_killed(world.key, admin, turn, seconds) for turn in range(number))
    print(json.dumps({"killed": killed, "seconds": round(seconds, 3), **_rest()}))


def _admin_key(world: Any) -> str:
    from inbox.actions.people.api_keys import make_key
    from inbox.rules.people.access import SEED, Permission

    _, key = make_key(team_id=world.team.pk, name="admin", scopes={Permission.ADMIN}, actor=SEED)
    return str(key)


def _work(key: str, admin: str, turn: int) -> None:
    """Send one of a few files, the same bytes as others, and erase it in every third turn."""
    from django.test import Client

    from tests.support.files.sending import send

    content = bytes([turn % 5]) * SIZE
    answer = send(key, content, f"{turn}.bin")
    if turn % 3 == 0:
        headers = {"Authorization": f"Bearer {admin}"}
        Client().delete(f"/api/files/{json.loads(answer.content)['id']}", headers=headers)


def _is_killed(key: str, admin: str, turn: int, seconds: float) -> bool:
    """Work in a child, kill it at a random time, and return whether it had not finished."""
    child = os.fork()
    if child == 0:
        _work(key, admin, turn)
        os._exit(0)
    time.sleep(random.Random(turn).uniform(0, seconds))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _rest() -> dict[str, Any]:
    from inbox.actions.files.file_erasure import delete_dead_blobs
    from inbox.models import File, StoredBlob
    from inbox.platform.clock import database_now
    from inbox.platform.files.received_files import delete_left_uploads, uploads_folder
    from tests.support.files.sending import broken_references, orphans

    before = {"orphans_before": len(orphans()), "unfinished_before": _unfinished()}
    delete_dead_blobs(written_before=database_now() + timedelta(seconds=1))
    delete_left_uploads(older_than=-1)
    return {
        **before,
        "files": File.objects.count(),
        "orphans": sorted(orphans()),
        "broken": list(map(str, broken_references())),
        "unfinished": _unfinished(),
        "uploads": len(list(uploads_folder().glob("*"))),
        "objects": StoredBlob.objects.count(),
    }


def _unfinished() -> int:
    from inbox.models import StoredBlob
    from inbox.models.files.files import BlobState

    return StoredBlob.objects.exclude(state=BlobState.STORED).count()


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()


if __name__ == "__main__":
    main(int(sys.argv[1]))
