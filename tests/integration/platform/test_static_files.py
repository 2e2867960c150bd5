"""Static files as browsers load them."""

import json

from django.core.management import call_command


def test_collected_modules_have_their_code_without_comment_lines(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "inbox.platform.http.static_files.StaticFiles"}
    }

    call_command("collectstatic", interactive=False, verbosity=0)

    paths = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    modules = {
        name: (tmp_path / paths[name]).read_text() for name in paths if name.startswith("js/")
    }
    assert len(modules) > 20
    for name, text in modules.items():
        assert "{" in text, name
        assert not any(line.lstrip().startswith("//") for line in text.split("\n")), name
