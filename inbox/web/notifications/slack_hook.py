"""The address to which Slack posts the presses of buttons in our messages."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from inbox.actions.notifications.chat_accounts import approve_by_chat, issue_link_code
from inbox.queries.notifications.slack_apps import SlackHook, slack_hook
from inbox.rules.errors import ChatUnknown, RequestRejected
from inbox.rules.notifications.slack_app import NO_APP
from inbox.sending.message_texts import link_to
from inbox.sending.slack_app import answer_press
from inbox.web.base.translate import translate
from inbox.web.notifications.slack_requests import Press, read_press


@csrf_exempt  # the signature is the permission: Slack has no session here
@never_cache
@require_POST
def hook(request: HttpRequest, channel_id: UUID) -> HttpResponse:
    """
    Approve a request by a button, and tell the person in Slack what became of it.

    Channels that are unknown, removed or off look like a wrong signature. Presses of buttons that
    open a link come here as well.
    """
    slack = slack_hook(channel_id)
    press = read_press(request, slack.app if slack else NO_APP)
    if slack is None or press is None:
        return HttpResponse(status=401)
    if press.interrupt_id is not None:
        with override(slack.language):
            _approve(request, slack, press, press.interrupt_id)
    return HttpResponse()


def _approve(request: HttpRequest, slack: SlackHook, press: Press, interrupt_id: UUID) -> None:
    path, link_text = reverse("interrupt", args=[interrupt_id]), gettext("Open the request")
    try:
        approve_by_chat(
            team_id=slack.team_id,
            workspace=slack.app.workspace,
            external_id=press.external_id,
            interrupt_id=interrupt_id,
            view_digest=press.view_digest,
        )
        text = gettext("You approved the request.")
    except ChatUnknown:
        code = issue_link_code(
            team_id=slack.team_id,
            workspace=slack.app.workspace,
            external_id=press.external_id,
            name=press.name,
        )
        path, link_text = reverse("chat_link", args=[code]), gettext("Connect your account")
        text = gettext(
            "Nothing was approved: this Slack account is not connected to an account of Signoff. "
            "The link works once, for 15 minutes. Then press the button again."
        )
    except RequestRejected as refusal:
        text = "{} {}".format(gettext("Nothing was approved."), translate(refusal.message))
    if press.answer_url:
        link = link_to(path) or request.build_absolute_uri(path)
        answer_press(press.answer_url, text, link=link, link_text=link_text)
