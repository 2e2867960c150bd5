"""The theme and the time zone of pages, and the manifest of the installed inbox."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.utils import timezone

from inbox.models import NotificationSchedule


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chosen_theme_is_on_the_root_of_the_page(reads_bob, theme):
    response = reads_bob.client.post("/theme", {"theme": theme, "next": "/decided/"})

    assert response.url == "/decided/"
    page = reads_bob.get("/").content.decode()
    assert f'data-theme="{theme}"' in page
    assert f'name="color-scheme" content="{theme}"' in page


def test_theme_of_the_system_needs_no_cookie(reads_bob):
    reads_bob.client.post("/theme", {"theme": "dark", "next": "/"})

    reads_bob.client.post("/theme", {"theme": "", "next": "/"})

    assert "data-theme" not in reads_bob.get("/").content.decode()


def test_unknown_theme_and_foreign_address_are_refused(reads_bob):
    assert reads_bob.client.post("/theme", {"theme": "x", "next": "/"}).status_code == 400
    response = reads_bob.client.post("/theme", {"theme": "dark", "next": "//evil.example/"})
    assert response.url == "/"
    reads_bob.client.cookies["theme"] = '"><script>'
    assert "data-theme" not in reads_bob.get("/").content.decode()


def test_times_are_in_the_zone_that_the_person_has_chosen(world, ask, reads_bob):
    choose_zone(world.bob, "Asia/Tokyo")

    page = asked_at(ask, reads_bob, datetime(2026, 1, 31, 20, 5, tzinfo=UTC))

    assert 'data-zone="Asia/Tokyo"' in page
    assert 'datetime="2026-02-01T05:05:00+09:00"' in page
    assert ">1 Feb, 05:05<" in page


def test_zone_of_the_browser_counts_without_a_choice(ask, reads_bob):
    reads_bob.client.cookies["zone"] = "Asia/Tokyo"

    page = asked_at(ask, reads_bob, datetime(2026, 1, 31, 20, 5, tzinfo=UTC))

    assert ">1 Feb, 05:05<" in page
    assert "data-zone" not in page


@pytest.mark.parametrize("zone", ["", "../etc/passwd", "Mars/Olympus", "a\0b", "x" * 5000])
def test_unknown_zone_is_utc_and_says_so(ask, reads_bob, zone):
    reads_bob.client.cookies["zone"] = zone

    assert ">31 Jan, 20:05 UTC<" in asked_at(
        ask, reads_bob, datetime(2026, 1, 31, 20, 5, tzinfo=UTC)
    )


def test_new_zone_counts_at_once(world, ask, reads_bob):
    choose_zone(world.bob, "Asia/Tokyo")
    reads_bob.get("/")
    choose_zone(world.bob, "Europe/Berlin")

    reads_bob.client.post("/theme", {"theme": "dark", "next": "/"})  # as any form

    page = asked_at(ask, reads_bob, datetime(2026, 1, 31, 20, 5, tzinfo=UTC))
    assert ">31 Jan, 21:05<" in page


@pytest.mark.parametrize(
    ("language", "texts"),
    [("en", ["3 h ago", "3 h"]), ("de", ["vor 3 Std.", "3 Std."])],
)
def test_server_writes_times_as_the_scripts_do(ask, reads_bob, language, texts):
    reads_bob.client.cookies["django_language"] = language

    page = asked_at(ask, reads_bob, timezone.now() - timedelta(hours=3, minutes=5))

    assert [text for text in texts if f">{text}<" in page] == texts


def test_filter_by_days_has_the_zone_of_the_person(world, ask, reads_bob):
    choose_zone(world.bob, "Asia/Tokyo")
    request = ask("tool_call")
    request_model = type(request).objects.filter(pk=request.pk)
    request_model.update(created_at=datetime(2026, 1, 31, 20, 5, tzinfo=UTC))

    assert f"row-{request.pk}" in reads_bob.get("/?since=2026-02-01").content.decode()
    assert f"row-{request.pk}" not in reads_bob.get("/?until=2026-01-31").content.decode()
    assert f"row-{request.pk}" in reads_bob.get("/?until=2026-02-01").content.decode()


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2026-02-30", "x"])
def test_any_day_in_the_address_is_answered(world, reads_bob, day):
    for zone in ("Asia/Tokyo", "America/Los_Angeles"):
        reads_bob.client.cookies["zone"] = zone
        for name in ("since", "until"):
            assert reads_bob.get(f"/?{name}={day}").status_code == 200


def test_manifest_has_icons_to_install(client):
    manifest = json.loads(client.get("/manifest.webmanifest").content)

    assert (manifest["start_url"], manifest["display"]) == ("/", "standalone")
    purposes = [icon.get("purpose") for icon in manifest["icons"]]
    assert "maskable" in purposes
    for icon in manifest["icons"]:
        assert Path(str(finders.find(icon["src"].removeprefix("/static/")))).exists()


def choose_zone(user, zone):
    noon = timezone.now().time()
    NotificationSchedule.objects.update_or_create(
        user=user,
        defaults={"zone": zone, "quiet_from": noon, "quiet_to": noon, "digest_at": noon},
    )


def asked_at(ask, reader, at):
    """Return the page of a request that was asked at that time."""
    interrupt = ask("tool_call")
    open_at(interrupt, at)
    return reader.get(f"/interrupts/{interrupt.pk}/").content.decode()


def open_at(interrupt, at):
    far = datetime(9000, 1, 1, tzinfo=UTC)
    rows = type(interrupt).objects.filter(pk=interrupt.pk)
    rows.update(created_at=at, expires_at=None, due_at=far)
