"""The theme and the time zone of pages, and the manifest of the installed inbox."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.utils import timezone

from inbox.models import NotificationSchedule
from tests.support.web.pages import words


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
    open_at(ask("tool_call"), datetime(2026, 1, 31, 20, 5, tzinfo=UTC))

    page = reads_bob.get("/")

    assert 'data-zone="Asia/Tokyo"' in page.content.decode()
    assert 'datetime="2026-02-01T05:05:00+09:00"' in page.content.decode()
    assert "1 Feb 05:05 JST" in words(page)


def test_zone_of_the_browser_counts_without_a_choice(ask, reads_bob):
    open_at(ask("tool_call"), datetime(2026, 1, 31, 20, 5, tzinfo=UTC))
    reads_bob.client.cookies["zone"] = "Asia/Tokyo"

    page = reads_bob.get("/")

    assert "1 Feb 05:05 JST" in words(page)
    assert "data-zone" not in page.content.decode()


@pytest.mark.parametrize("zone", ["", "../etc/passwd", "Mars/Olympus", "a\0b", "x" * 5000])
def test_unknown_zone_is_utc(ask, reads_bob, zone):
    open_at(ask("tool_call"), datetime(2026, 1, 31, 20, 5, tzinfo=UTC))
    reads_bob.client.cookies["zone"] = zone

    assert "31 Jan 20:05 UTC" in words(reads_bob.get("/"))


def test_new_zone_counts_at_once(world, ask, reads_bob):
    open_at(ask("tool_call"), datetime(2026, 1, 31, 20, 5, tzinfo=UTC))
    choose_zone(world.bob, "Asia/Tokyo")
    reads_bob.get("/")
    choose_zone(world.bob, "Europe/Berlin")

    reads_bob.client.post("/theme", {"theme": "dark", "next": "/"})  # as any form

    assert "31 Jan 21:05 CET" in words(reads_bob.get("/"))


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


def open_at(interrupt, at):
    far = datetime(9000, 1, 1, tzinfo=UTC)
    rows = type(interrupt).objects.filter(pk=interrupt.pk)
    rows.update(created_at=at, expires_at=None, due_at=far)
