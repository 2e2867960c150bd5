"""The pages of a person's notifications, and the one that ends them by a link of a mail."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_plus

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language, gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from inbox.actions.notifications.absences import decline_deputy, set_away
from inbox.actions.notifications.subscriptions import (
    send_test,
    set_schedule,
    subscribe,
    unsubscribe,
    unsubscribe_channel,
)
from inbox.queries.decisions.saved_views import views_for
from inbox.queries.notifications.notifications import (
    LogRow,
    Recipient,
    channel_of_token,
    log_of_browsers,
    preferences_of,
)
from inbox.queries.notifications.recipients import person_of, schedule_of
from inbox.queries.notifications.slack_apps import identities_of
from inbox.queries.people.access import memberships_of
from inbox.rules.decisions.list_filters import InterruptFilter
from inbox.rules.errors import InvalidInput
from inbox.rules.notifications.events import (
    CHOICES,
    DEFAULT_MINUTES,
    MAX_MINUTES,
    AnnouncementKind,
    ChannelKind,
    DeliveryMode,
    NotificationStatus,
    Reason,
)
from inbox.rules.notifications.schedule import check_schedule, schedule_texts
from inbox.rules.people.access import Actor
from inbox.sending.printed_mails import are_mails_printed, printed_mails_to
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.base.zones import zone_names
from inbox.web.notifications.absences import AbsenceFields, absence_context
from inbox.web.notifications.previews import preview_of
from inbox.web.notifications.push_section import push_section

KINDS = {
    AnnouncementKind.OPENED: gettext_noop("New request"),
    AnnouncementKind.REMINDED: gettext_noop("Reminder"),
    AnnouncementKind.ESCALATED: gettext_noop("Escalation"),
    AnnouncementKind.EXPIRING: gettext_noop("Expires soon"),
    AnnouncementKind.DECIDED: gettext_noop("A request of yours was decided"),
    AnnouncementKind.OVERRULED: gettext_noop("A request was closed although you had approved it"),
    AnnouncementKind.ASSIGNED: gettext_noop("A request is assigned to you"),
    AnnouncementKind.MENTIONED: gettext_noop("A comment mentions you"),
    AnnouncementKind.OVERRIDDEN: gettext_noop("Policy overridden"),
    AnnouncementKind.UNDECIDABLE: gettext_noop("Nobody can approve a request"),
    AnnouncementKind.POLICY_PUBLISHED: gettext_noop("Policy published"),
    AnnouncementKind.CHANNEL_DISABLED: gettext_noop("Chat switched off"),
    AnnouncementKind.SETTING_PROPOSED: gettext_noop("Weaker setting proposed"),
    AnnouncementKind.SETTING_WEAKENED: gettext_noop("Setting weakened"),
    AnnouncementKind.AGENT_PAUSED: gettext_noop("Agent paused"),
    AnnouncementKind.TEST: gettext_noop("Test"),
}
_STATUSES = {
    NotificationStatus.PENDING: gettext_noop("Waiting"),
    NotificationStatus.SENT: gettext_noop("Sent"),
    NotificationStatus.DROPPED: gettext_noop("Not needed"),
    NotificationStatus.FAILED: gettext_noop("Failed"),
}
_REASONS = {
    Reason.CLOSED: gettext_noop("The request was closed before."),
    Reason.CLAIMED: gettext_noop("A person has claimed the request."),
    Reason.SEEN: gettext_noop("You had opened the request."),
    Reason.NO_ACCESS: gettext_noop("You cannot decide the request any more."),
    Reason.REOPENED: gettext_noop("The decision was taken back."),
    Reason.NO_DEPUTY: gettext_noop("You are not the deputy any more."),
    Reason.REASSIGNED: gettext_noop("The request is not assigned to you any more."),
    Reason.NOT_ADMIN: gettext_noop("You do not administer the team any more."),
    Reason.UNSUBSCRIBED: gettext_noop("You had unsubscribed."),
    Reason.REMOVED: gettext_noop("The chat or browser was removed."),
    Reason.GONE: gettext_noop("The browser has unsubscribed."),
    Reason.NO_ADDRESS: gettext_noop("Your account has no confirmed address."),
    Reason.REFUSED: gettext_noop("The server refused the message."),
    Reason.DISABLED: gettext_noop("The address, browser or chat was switched off."),
    Reason.BROKEN: gettext_noop("The message could not be built. The worker's log has the error."),
}

#: Mails that a page shows of an installation without a mail server.
_PRINTED_LISTED = 10


@page
def notifications(request: HttpRequest, actor: Actor) -> HttpResponse:
    return _show(request, actor)


@post_page
def save(request: HttpRequest, actor: Actor) -> HttpResponse:
    if "off" in request.POST:
        unsubscribe(actor=actor)
        return see_other("notifications")
    minutes = request.POST.get("minutes", "").strip()
    events, mode = request.POST.getlist("events"), request.POST.get("mode", "")
    only = request.POST.get("only", "")
    stored = schedule_texts(schedule_of(person_of(actor)))
    times = {name: request.POST.get(name, text).strip() for name, text in stored.items()}
    try:
        schedule = check_schedule(times)
        subscribe(
            events=events,
            mode=mode,
            minutes=parse_minutes(minutes),
            language=get_language() or "en",
            only=only,
            actor=actor,
        )
    except InvalidInput as refusal:
        values: dict[str, Any] = {
            "events": events,
            "mode": mode,
            "minutes": minutes,
            "only": only,
        }
        return _refuse(request, actor, refusal, **values, times=times)
    set_schedule(schedule=schedule, actor=actor)
    return see_other("notifications")


@post_page
def save_absence(request: HttpRequest, actor: Actor) -> HttpResponse:
    post = request.POST
    fields = AbsenceFields(post.get("away_until", "").strip(), post.get("deputy", ""))
    try:
        until = None if "back" in post else fields.until(schedule_of(person_of(actor)).zone)
        set_away(until=until, deputy=fields.deputy_id, actor=actor)
    except InvalidInput as refusal:
        return _refuse(request, actor, refusal, absence_fields=fields)
    return see_other("notifications")


@post_page
def decline(request: HttpRequest, actor: Actor, user: int) -> HttpResponse:
    decline_deputy(user_id=user, actor=actor)
    return see_other("notifications")


@post_page
def test(request: HttpRequest, actor: Actor) -> HttpResponse:
    try:
        send_test(language=get_language() or "en", actor=actor)
    except InvalidInput as refusal:
        return _refuse(request, actor, refusal)
    return see_other("notifications")


@csrf_exempt  # the token is the permission: mail programs post without a cookie (RFC 8058)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def end_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show a form, and unsubscribe by POST only: scanners open the links of mails."""
    channel_id = channel_of_token(token)
    if channel_id is None:
        raise Http404
    is_post = request.method == "POST"
    if is_post:
        unsubscribe_channel(channel_id=channel_id)
    response = render(request, "account/unsubscribe.html", {"is_done": is_post})
    response["Referrer-Policy"] = "no-referrer"
    return response


def parse_minutes(text: str) -> int:
    """Return the minutes of a field, 0 if it has other characters than digits."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0


def filter_choices(actor: Actor, chosen: str) -> list[tuple[str, str, bool]]:
    """Return the saved views of open requests as choices: query, name, and whether it is chosen."""
    names = {"": gettext("All requests")}
    for view in views_for(actor):
        filters = InterruptFilter.from_text(view.query)
        if filters.is_open and (query := filters.lasting_query()):
            names.setdefault(query, view.name)
    # The view may have been deleted since.
    names.setdefault(chosen, unquote_plus(chosen))
    return [(query, name, query == chosen) for query, name in names.items()]


def log_rows(log: Sequence[LogRow]) -> list[dict[str, Any]]:
    """Return the rows of a log in the words of its page."""
    return [
        {
            "kind": gettext(KINDS[AnnouncementKind(entry.kind)]),
            "title": entry.title,
            "at": entry.at,
            "status": gettext(_STATUSES[NotificationStatus(entry.status)]),
            "why": gettext(_REASONS[Reason(entry.why)]) if entry.why else "",
            "label": entry.label,
            "is_test": entry.kind == AnnouncementKind.TEST,
            "is_waiting": entry.status == NotificationStatus.PENDING,
            "is_sent": entry.status == NotificationStatus.SENT,
        }
        for entry in log
    ]


def last_test(log: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the row of the last test message if nothing was sent since."""
    return log[0] if log and log[0]["is_test"] else None


def recipient_rows(recipients: Sequence[Recipient]) -> list[dict[str, Any]]:
    """Return the people and chats that were told of a request, in the words of its page."""
    return [
        {
            "name": item.name,
            "icon": _icon_of(item),
            "kind": gettext(KINDS[AnnouncementKind(item.kind)]),
            "at": item.at,
            "is_sent": item.status == NotificationStatus.SENT,
            "status": gettext(_STATUSES[NotificationStatus(item.status)]),
            "why": gettext(_REASONS[Reason(item.why)]) if item.why else "",
        }
        for item in recipients
    ]


def _refuse(
    request: HttpRequest, actor: Actor, refusal: InvalidInput, **values: Any
) -> HttpResponse:
    return _show(request, actor, status=422, problem=translate(refusal.message), **values)


def _icon_of(recipient: Recipient) -> str:
    if recipient.is_chat:
        return "message-square"
    return "bell" if recipient.is_push else "mail"


def refuse_pushes(
    request: HttpRequest, actor: Actor, refusal: InvalidInput, choice: dict[str, Any]
) -> HttpResponse:
    """Show the page with a choice for push messages that was refused."""
    problem = translate(refusal.message)
    return _show(request, actor, status=422, push_problem=problem, push_choice=choice)


def _show(
    request: HttpRequest,
    actor: Actor,
    status: int = 200,
    problem: str = "",
    absence_fields: AbsenceFields | None = None,
    push_problem: str = "",
    push_choice: dict[str, Any] | None = None,
    **values: Any,
) -> HttpResponse:
    preferences = preferences_of(actor)
    row = preferences.subscription
    if not values:
        values = {
            "events": row.events if row else list(CHOICES),
            "mode": row.mode if row else DeliveryMode.IF_WAITING,
            "minutes": row.minutes if row else DEFAULT_MINUTES,
            "only": row.filter if row else "",
            "times": schedule_texts(preferences.schedule),
        }
    log = log_rows(preferences.log)
    memberships = memberships_of(actor)
    context = {
        "preferences": preferences,
        "preview": preview_of(
            [team.pk for team, _ in memberships],
            ChannelKind.EMAIL,
            get_language() or "en",
            team=memberships[0][0].name if memberships else "",
        ),
        "test": last_test(log),
        "choices": [
            (kind.value, gettext(KINDS[kind]), kind in values["events"]) for kind in CHOICES
        ],
        "mode": str(values["mode"]),
        "minutes": str(values["minutes"]),
        "max_minutes": MAX_MINUTES,
        "filters": filter_choices(actor, values["only"]),
        **absence_context(actor, absence_fields),
        "times": values["times"],
        "zones": zone_names(),
        "problem": problem,
        "log": log,
        "chat_accounts": identities_of(actor),
        "push": push_section(actor, KINDS, push_choice, push_problem),
        "push_log": log_rows(log_of_browsers(person_of(actor))),
        "are_mails_printed": are_mails_printed(),
        "printed_mails": printed_mails_to(preferences.address)[:_PRINTED_LISTED],
    }
    return show(
        request, actor, "account/notifications.html", context, section="account", status=status
    )
