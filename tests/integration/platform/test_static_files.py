"""Static files as browsers load them."""

import fcntl
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from threading import Barrier

import pytest
from django.core.management import call_command

from inbox.platform.http.static_files import collect_static_files
from tests.support.node import find_node

FINDER = "django.contrib.staticfiles.finders.FileSystemFinder"
BACKEND = "inbox.platform.http.static_files.StaticFiles"


@pytest.fixture(autouse=True)
def _compressed(settings):
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": BACKEND}}


def test_collected_modules_have_their_code_without_comments(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path

    call_command("collectstatic", interactive=False, verbosity=0)

    paths = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    modules = [tmp_path / paths[name] for name in paths if name.startswith("js/")]
    assert len(modules) > 20
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for module in modules:
        source = (Path("static/js") / f"{module.name.split('.')[0]}.js").read_text()
        text = module.read_text()
        assert not re.search(r"^\s*//", text, re.MULTILINE), module
        # Each import names a collected file.
        assert text.count('from"./') == source.count('from "./'), module
        assert all(name in paths.values() for name in imported(text)), module
        subprocess.run([find_node().node, "--check", module], check=True, timeout=60)


def imported(module: str) -> list[str]:
    """Names, below the static root, of the files that a module imports."""
    return [f"js/{name}" for name in re.findall(r"(?:from|import\()\s*\"\./([^\"]+)", module)]


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


@pytest.mark.parametrize(
    ("rule", "collected"),
    [
        (".rail :is(.a, .b) { color: red; }", ".rail *:is(.a,.b){color:red}"),
        ("[dir='rtl'] :is(pre, code) { color: red; }", "[dir='rtl'] *:is(pre,code){color:red}"),
        (".a:is(.b) :not(.c) { color: red; }", ".a:is(.b) *:not(.c){color:red}"),
        (".a > :is(.b) { color: red; }", ".a>:is(.b){color:red}"),
        (".rail\n    :is(.a) { color: red; }", ".rail *:is(.a){color:red}"),
        (".rail :first-child { color: red; }", ".rail *:first-child{color:red}"),
        (".rail ::before { color: red; }", ".rail *::before{color:red}"),
        (".a { color :red; }", ".a{color:red}"),
    ],
)
def test_selectors_keep_their_meaning_in_collected_styles(
    settings, script, tmp_path, rule, collected
):
    (script.parent / "css").mkdir()
    (script.parent / "css" / "one.css").write_text(f"@layer components {{\n  {rule}\n}}\n")

    call_command("collectstatic", interactive=False, verbosity=0)

    assert collected in (settings.STATIC_ROOT / "css" / "one.css").read_text()


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
