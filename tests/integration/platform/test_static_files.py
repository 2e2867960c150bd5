"""Static files as browsers load them."""

import fcntl
import json
import os
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Barrier

import pytest
from django.core.management import call_command

from inbox.platform.http.static_files import collect_static_files

FINDER = "django.contrib.staticfiles.finders.FileSystemFinder"
BACKEND = "inbox.platform.http.static_files.StaticFiles"


@pytest.fixture(autouse=True)
def _compressed(settings):
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": BACKEND}}


def test_collected_modules_have_their_code_without_comment_lines(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path

    call_command("collectstatic", interactive=False, verbosity=0)

    paths = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    modules = {
        name: (tmp_path / paths[name]).read_text() for name in paths if name.startswith("js/")
    }
    assert len(modules) > 20
    for name, text in modules.items():
        assert "{" in text, name
        assert not any(line.lstrip().startswith("//") for line in text.split("\n")), name


@pytest.fixture
def script(settings, tmp_path):
    """The one static file there is."""
    settings.STATICFILES_FINDERS = [FINDER]
    settings.STATICFILES_DIRS = [tmp_path / "sources"]
    settings.STATIC_ROOT = tmp_path / "collected"
    for directory in ("sources", "collected"):
        (tmp_path / directory).mkdir()
    path = tmp_path / "sources" / "one.js"
    path.write_text("export const one = 1;\n")
    return path


def test_static_files_are_collected_once(script):
    assert collect_static_files()
    assert not collect_static_files()


def test_a_changed_static_file_is_collected_again(settings, script):
    collect_static_files()
    script.write_text("export const one = 2;\n")
    # Django copies what is newer, by seconds.
    later = script.stat().st_mtime + 1
    os.utime(script, (later, later))

    assert collect_static_files()

    assert (settings.STATIC_ROOT / "one.js").read_text() == "export const one = 2;\n"


def test_static_files_are_collected_again_after_a_start_that_was_stopped(script, monkeypatch):
    collect_static_files()
    content = script.read_text()
    script.write_text("export const one = 2;\n")
    with monkeypatch.context() as patch:
        patch.setattr("inbox.platform.http.static_files.call_command", _stop)
        with pytest.raises(KeyboardInterrupt):
            collect_static_files()

    script.write_text(content)

    assert collect_static_files()


def _stop(*_, **__):
    raise KeyboardInterrupt


def test_processes_that_start_together_collect_once(script):
    starts = Barrier(4)

    def start(_number):
        starts.wait(60)
        return collect_static_files()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(start, range(4))) == [False, False, False, True]


def test_a_process_that_collects_makes_others_wait(settings, script):
    with (settings.STATIC_ROOT / ".collecting").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor(1) as pool:
            start = pool.submit(collect_static_files)
            with pytest.raises(NotYet):
                start.result(timeout=0.2)
            assert not (settings.STATIC_ROOT / ".collected").exists()
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert start.result(timeout=60)
