"""The pages of a team's chats, which get notifications."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
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
from inbox.queries.people.members import team_access
from inbox.queries.people.teams import team_for
from inbox.rules.errors import InvalidInput
from inbox.rules.notifications.events import (
    DEFAULT_MINUTES,
    MAX_LABEL_CHARACTERS,
    MAX_MINUTES,
    WAITING,
    WEBHOOK_CHATS,
    ChannelEnd,
    ChannelKind,
    DeliveryMode,
)
from inbox.rules.people.access import Actor
from inbox.web.base.pages import page, post_page, see_other, show
from inbox.web.base.translate import translate
from inbox.web.notifications.notifications import KINDS, filter_choices, log_rows, parse_minutes
from inbox.web.people.teams import team_frame

if TYPE_CHECKING:
    from inbox.models import Channel

_NAMES = {
    ChannelKind.SLACK: "Slack",
    ChannelKind.TEAMS: "Microsoft Teams",
    ChannelKind.DISCORD: "Discord",
    ChannelKind.SLACK_COMPATIBLE: gettext_noop("Mattermost, Rocket.Chat or another like Slack"),
}
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
        change_chat(channel_id=channel_id, actor=actor, **asdict(values))
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


def _first_values() -> ChatSettings:
    return ChatSettings("", "", list(WAITING), DeliveryMode.IF_WAITING, DEFAULT_MINUTES)


def _stored(channel: "Channel") -> ChatSettings:
    row = channel.subscription
    return ChatSettings(channel.label, "", row.events, row.mode, row.minutes, row.filter)


def _posted(request: HttpRequest) -> ChatSettings:
    post = request.POST
    return ChatSettings(
        label=" ".join(post.get("label", "").split()),
        url=post.get("url", "").strip(),
        events=post.getlist("events"),
        mode=post.get("mode", ""),
        minutes=parse_minutes(post.get("minutes", "")),
        only=post.get("only", ""),
    )


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
    context = {
        "chat": _row(channel) if channel else None,
        "values": values,
        "kinds": [(item.value, gettext(_NAMES[item]), item == kind) for item in WEBHOOK_CHATS],
        "choices": [(item.value, gettext(KINDS[item]), item in values.events) for item in WAITING],
        "mode": str(values.mode),
        "minutes": request.POST.get("minutes", str(values.minutes)),
        "max_minutes": MAX_MINUTES,
        "filters": filter_choices(actor, values.only),
        "max_label": MAX_LABEL_CHARACTERS,
        "problems": problems,
        "notice": translate(refusal.message) if refusal and not problems else "",
        "log": log_rows(log_of(channel)) if channel else [],
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
