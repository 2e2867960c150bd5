"""Push messages in browsers: the forms of the page, the service worker, and the manifest."""

from pathlib import Path
from uuid import UUID

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.utils.translation import get_language
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from inbox.actions.notifications.push_channels import (
    choose_pushes,
    remove_browser,
    send_browser_test,
)
from inbox.rules.errors import InvalidInput
from inbox.rules.people.access import Actor
from inbox.web.base.pages import post_page, see_other
from inbox.web.notifications.notifications import parse_minutes, refuse_pushes


@post_page
def save(request: HttpRequest, actor: Actor) -> HttpResponse:
    events, mode = request.POST.getlist("events"), request.POST.get("mode", "")
    minutes = request.POST.get("minutes", "").strip()
    try:
        choose_pushes(
            events=events,
            mode=mode,
            minutes=parse_minutes(minutes),
            language=get_language() or "en",
            actor=actor,
        )
    except InvalidInput as refusal:
        choice = {"events": events, "mode": mode, "minutes": minutes}
        return refuse_pushes(request, actor, refusal, choice)
    return see_other("notifications")


@post_page
def remove(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    remove_browser(channel_id=channel_id, actor=actor)
    return see_other("notifications")


@post_page
def test(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    send_browser_test(channel_id=channel_id, actor=actor)
    return see_other("notifications")


@cache_control(no_cache=True)
@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Serve the service worker at the root, as its scope is the folder that it comes from."""
    path = Path(str(finders.find("js/push_worker.js")))
    return HttpResponse(path.read_bytes(), content_type="text/javascript; charset=utf-8")


def _icon(name: str, size: int) -> dict[str, str]:
    """Return an entry of the manifest; `tests.support.web.icons` makes the files."""
    return {
        "src": static(f"icons/{name}.png"),
        "sizes": f"{size}x{size}",
        "type": "image/png",
    }


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """Serve the manifest, by which browsers install the inbox; iOS needs it for push messages."""
    content = {
        "id": "/",
        "name": "Signoff",
        "short_name": "Signoff",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": "#1b1e27",
        "background_color": "#f5f3ef",
        "icons": [
            {"src": static("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            *(_icon(f"icon-{size}", size) for size in (192, 512)),
            {**_icon("icon-maskable-512", 512), "purpose": "maskable"},
        ],
    }
    return JsonResponse(content, content_type="application/manifest+json")
