"""Uploads to the running product: killed processes, large files, a full disk."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.environment import IS_FULL
from tests.support.files.samples import png
from tests.support.processes import embedded_environment, manage
from tests.support.product import embedded_product

pytestmark = pytest.mark.campaign
MIB = 1024 * 1024
KILLS = 200 if IS_FULL else 25
LARGE = 1024 * MIB if IS_FULL else 96 * MIB


def body_of(size):
    """Yield a form with a file of `size` bytes, made while it is sent."""
    yield b'--edge\r\nContent-Disposition: form-data; name="agent"\r\n\r\nrehearsal\r\n'
    yield b'--edge\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n'
    part = bytes(range(256)) * 256
    for _ in range(size // len(part)):
        yield part
    yield b"\r\n--edge--\r\n"


def send(product, size, **headers):
    total = {"Content-Length": str(sum(map(len, body_of(0))) + size)}
    return httpx.post(
        f"{product.url}/api/files",
        content=body_of(size),
        headers={
            "Authorization": f"Bearer {product.create_api_key('run', 'read')}",
            "Content-Type": "multipart/form-data; boundary=edge",
            **total,
            **headers,
        },
        timeout=300,
    )


def test_killed_uploads_leave_no_orphan_and_no_broken_reference(tmp_path):
    environment = embedded_environment(tmp_path)
    manage(environment, "migrate")

    done = subprocess.run(
        [sys.executable, "-m", "tests.support.files.killed_uploads", str(KILLS)],
        env={**environment, "DJANGO_SETTINGS_MODULE": "inbox.config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2_000:]
    remaining = json.loads(done.stdout.splitlines()[-1])
    assert remaining["killed"] >= KILLS // 2, remaining
    assert [remaining[name] for name in ("orphans", "broken", "unfinished", "uploads")] == [
        [],
        [],
        0,
        0,
    ]


def test_a_large_upload_takes_constant_memory(tmp_path):
    limits = {"SIGNOFF_FILE_BYTES": 2048 * MIB, "SIGNOFF_REQUEST_FILE_BYTES": 2048 * MIB}
    settings = {name: str(value) for name, value in limits.items()}
    with embedded_product(tmp_path, **settings) as product:
        send(product, MIB)
        process = psutil.Process(product.web.pid)
        before = process.memory_info().rss
        peaks = []

        with httpx.Client() as client:
            answer = send(product, LARGE)
            peaks.append(process.memory_info().rss)
            path = answer.json()["url"].partition("#")[0]
            with client.stream("GET", path) as download:
                received = 0
                for chunk in download.iter_bytes():
                    received += len(chunk)
                    peaks.append(process.memory_info().rss)

        assert answer.status_code == 201, answer.text
        assert received == LARGE
        assert max(peaks) - before < 64 * MIB
        high_water = _peak(process.pid)
        assert high_water - before < 96 * MIB


def _peak(pid):
    """Return the highest memory that a process had."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_too_large_bodies_and_full_disks_are_refused_while_they_are_sent(tmp_path):
    enough = 1 << 60
    with embedded_product(tmp_path, SIGNOFF_REQUEST_FILE_BYTES=str(4 * MIB)) as product:
        large = send(product, 64 * MIB)
        undeclared = _post_ten_gigabytes(product)
        fine = httpx.get(f"{product.url}/healthz")
    with embedded_product(tmp_path / "full", SIGNOFF_FREE_DISK_BYTES=str(enough)) as product:
        full = send(product, 8 * MIB)
        others = httpx.get(f"{product.url}/healthz")

    assert (large.status_code, large.json()["code"]) == (413, "FILE_TOO_LARGE")
    assert undeclared in (413, 0)
    assert (full.status_code, full.json()["code"]) == (507, "STORAGE_FULL")
    assert (fine.status_code, others.status_code) == (200, 200)


def _post_ten_gigabytes(product):
    """Send without a length until the server stops it; 0 if it closed the connection."""
    try:
        answer = httpx.post(
            f"{product.url}/api/files",
            content=body_of(10_240 * MIB),
            headers={"Content-Type": "multipart/form-data; boundary=edge"},
            timeout=60,
        )
    except httpx.TransportError:
        return 0
    return answer.status_code


def test_a_picture_sent_to_the_running_product_is_loaded_by_its_link(tmp_path):
    with embedded_product(tmp_path) as product:
        key = product.create_api_key("run", "read")
        sent = httpx.post(
            f"{product.url}/api/files",
            files={"file": ("a.png", png())},
            data={"agent": "rehearsal"},
            headers={"Authorization": f"Bearer {key}"},
        ).json()

        loaded = httpx.get(sent["url"].partition("#")[0])

    assert loaded.content == png()
    assert loaded.headers["Content-Disposition"] == 'attachment; filename="a.png"'
