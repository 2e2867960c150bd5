"""The pages of a team's chats, which get notifications."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language, gettext, gettext_noop

from inbox.actions.notifications.team_channels import (
    ChatSettings,
    add_chat,
    change_chat,
    remove_chat,
    switch_chat,
    test_chat,
)
from inbox.queries.notifications.chats import chat_for, chats_for
from inbox.queries.notifications.delivery_metrics import KindMetrics, delivery_metrics
from inbox.queries.notifications.notifications import log_of
from inbox.queries.notifications.slack_apps import slack_app_of
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.rules.errors import InvalidInput
from inbox.rules.notifications.events import (
    DEFAULT_MINUTES,
    MAX_LABEL_CHARACTERS,
    MAX_MINUTES,
    WAITING,
    ChannelEnd,
    ChannelKind,
    DeliveryMode,
)
from inbox.rules.notifications.slack_app import NO_APP, SlackApp
from inbox.rules.people.access import Actor
from inbox.sending.message_texts import link_to
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.notifications.notifications import (
    KINDS,
    filter_choices,
    last_test,
    log_rows,
    parse_minutes,
)
from inbox.web.notifications.previews import Preview, preview_of
from inbox.web.people.teams import team_frame

if TYPE_CHECKING:
    from inbox.models import Channel

_NAMES = {
    ChannelKind.SLACK_APP: gettext_noop("Slack app, with buttons"),
    ChannelKind.SLACK: "Slack",
    ChannelKind.TEAMS: "Microsoft Teams",
    ChannelKind.DISCORD: "Discord",
    ChannelKind.SLACK_COMPATIBLE: gettext_noop("Mattermost, Rocket.Chat or another like Slack"),
}
_CHANGEABLE = ("label", "url", "events", "mode", "minutes", "only", "slack")
_KINDS = {
    **_NAMES,
    ChannelKind.EMAIL: gettext_noop("Mails"),
    ChannelKind.PUSH: gettext_noop("Push messages"),
    ChannelKind.SLACK_APP: gettext_noop("Slack app"),
}
_ENDS = {
    ChannelEnd.REFUSED: gettext_noop(
        "It was switched off: the server refused all messages for a day."
    ),
    ChannelEnd.FAILING: gettext_noop("It was switched off: no message arrived for a day."),
    ChannelEnd.BY_HAND: gettext_noop("An administrator switched it off."),
}


@page
def chat_list(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    access = team_access(actor, team)
    context = {
        "chats": [_row(chat) for chat in chats_for(actor, access.team.pk)],
        "metrics": [_metrics_row(row) for row in delivery_metrics(actor, access.team.pk)],
        **team_frame(actor, access, "chats"),
    }
    return show(request, actor, "notifications/chats.html", context, section="teams")


@page
def new_chat(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    chats_for(actor, team_for(actor, team).pk, limit=0)
    return _show_form(request, actor, team, _first_values())


@post_page
def add(request: HttpRequest, actor: Actor, team: str) -> HttpResponse:
    team_id, values = team_for(actor, team).pk, _posted(request)
    try:
        channel = add_chat(
            team_id=team_id,
            kind=request.POST.get("kind", ""),
            values=values,
            language=get_language() or "en",
            actor=actor,
        )
    except InvalidInput as refusal:
        return _show_form(request, actor, team, values, refusal=refusal)
    return see_other("team_chat", channel.pk)


@page
def chat(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    row = chat_for(actor, channel_id)
    return _show_form(request, actor, _team_of(row), _stored(row), channel=row)


@post_page
def save(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    row, values = chat_for(actor, channel_id), _posted(request)
    try:
        settings = {name: getattr(values, name) for name in _CHANGEABLE}
        change_chat(channel_id=channel_id, actor=actor, **settings)
    except InvalidInput as refusal:
        return _show_form(request, actor, _team_of(row), values, channel=row, refusal=refusal)
    return see_other("team_chat", channel_id)


@post_page
def switch(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    switch_chat(channel_id=channel_id, is_on=request.POST.get("on") == "1", actor=actor)
    return see_other("team_chat", channel_id)


@post_page
def test(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    try:
        test_chat(channel_id=channel_id, actor=actor)
    except InvalidInput as refusal:
        row = chat_for(actor, channel_id)
        return _show_form(request, actor, _team_of(row), _stored(row), channel=row, refusal=refusal)
    return see_other("team_chat", channel_id)


@post_page
def remove(request: HttpRequest, actor: Actor, channel_id: UUID) -> HttpResponse:
    team = _team_of(chat_for(actor, channel_id))
    remove_chat(channel_id=channel_id, actor=actor)
    return see_other("team_chats", team)


def _team_of(channel: "Channel") -> str:
    return channel.team.slug if channel.team else ""


def _preview(channel: "Channel") -> Preview:
    team, language = channel.team, channel.language
    return preview_of(
        [team.pk] if team else [],
        ChannelKind(channel.kind),
        language,
        team=team.name if team else "",
    )


def _first_values() -> ChatSettings:
    return ChatSettings("", "", list(WAITING), DeliveryMode.IF_WAITING, DEFAULT_MINUTES)


def _stored(channel: "Channel") -> ChatSettings:
    row = channel.subscription
    app = slack_app_of(channel) if channel.kind == ChannelKind.SLACK_APP else NO_APP
    public = SlackApp(workspace=app.workspace, channel=app.channel)
    return ChatSettings(channel.label, "", row.events, row.mode, row.minutes, public, row.filter)


def _posted(request: HttpRequest) -> ChatSettings:
    post = request.POST
    return ChatSettings(
        label=" ".join(post.get("label", "").split()),
        url=post.get("url", "").strip(),
        events=post.getlist("events"),
        mode=post.get("mode", ""),
        minutes=parse_minutes(post.get("minutes", "")),
        only=post.get("only", ""),
        slack=SlackApp(
            token=post.get("token", "").strip(),
            signing_secret=post.get("signing_secret", "").strip(),
            workspace=post.get("workspace", "").strip(),
            channel=post.get("channel", "").strip(),
        ),
    )


def _app_fields(
    app: SlackApp, problems: Mapping[str, str], *, is_new: bool
) -> list[tuple[str, str, str, str, str, str]]:
    """Return name, label, value, help, type and problem of the fields; secrets have no value."""
    secret = (
        gettext("It is stored encrypted and never shown again.")
        if is_new
        else gettext("Leave it empty to keep it. It is stored encrypted and never shown.")
    )
    ids = gettext("Slack's address of the channel has both: app.slack.com/client/T…/C…")
    fields = [
        ("token", gettext("Bot token"), "", secret, "password"),
        ("signing_secret", gettext("Signing secret"), "", secret, "password"),
        ("workspace", gettext("Workspace"), app.workspace, ids, "text"),
        ("channel", gettext("Channel"), app.channel, ids, "text"),
    ]
    return [(*field, problems.get(field[0], "")) for field in fields]


def _request_url(request: HttpRequest, channel: "Channel") -> str:
    """Return the URL that the settings of a Slack app need for its buttons."""
    path = reverse("slack_hook", args=[channel.pk])
    return link_to(path) or request.build_absolute_uri(path)


def _metrics_row(row: KindMetrics) -> dict[str, Any]:
    delay = ""
    if row.median_seconds is not None and row.p95_seconds is not None:
        delay = f"{row.median_seconds:.0f} s ({row.p95_seconds:.0f} s)"
    return {"name": gettext(_KINDS[ChannelKind(row.kind)]), "numbers": row, "delay": delay}


def _row(channel: "Channel") -> dict[str, Any]:
    return {
        "row": channel,
        "kind": gettext(_NAMES[ChannelKind(channel.kind)]),
        "end": gettext(_ENDS[ChannelEnd(channel.disabled_reason)])
        if channel.disabled_reason
        else "",
        "events": [gettext(KINDS[kind]) for kind in WAITING if kind in channel.subscription.events],
    }


def _show_form(
    request: HttpRequest,
    actor: Actor,
    team: str,
    values: ChatSettings,
    *,
    channel: "Channel | None" = None,
    refusal: InvalidInput | None = None,
) -> HttpResponse:
    stored = refusal.detail.get("problems", {}) if refusal else {}
    problems = {name: translate(texts[0]) for name, texts in stored.items()}
    kind = channel.kind if channel else request.POST.get("kind", ChannelKind.SLACK)
    log = log_rows(log_of(channel)) if channel else []
    context = {
        "chat": _row(channel) if channel else None,
        "preview": _preview(channel) if channel else None,
        "test": last_test(log),
        "values": values,
        "kinds": [(item.value, gettext(text), item == kind) for item, text in _NAMES.items()],
        "is_app": channel is not None and channel.kind == ChannelKind.SLACK_APP,
        "app": values.slack,
        "app_fields": _app_fields(values.slack, problems, is_new=channel is None),
        "request_url": _request_url(request, channel) if channel else "",
        "choices": [(item.value, gettext(KINDS[item]), item in values.events) for item in WAITING],
        "mode": str(values.mode),
        "minutes": request.POST.get("minutes", str(values.minutes)),
        "max_minutes": MAX_MINUTES,
        "filters": filter_choices(actor, values.only),
        "max_label": MAX_LABEL_CHARACTERS,
        "problems": problems,
        "notice": translate(refusal.message) if refusal and not problems else "",
        "log": log,
        **team_frame(actor, team_access(actor, team), "chats"),
    }
    return show(
        request,
        actor,
        "notifications/chat.html",
        context,
        section="teams",
        status=422 if refusal else 200,
    )
