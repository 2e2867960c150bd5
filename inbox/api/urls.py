"""URLs of the REST API."""

from django.urls import path

from inbox.api.agents import agents
from inbox.api.audit import audit_entries, tool_calls
from inbox.api.base.openapi import api_docs, api_schema
from inbox.api.decisions import claims_and_comments, decisions, interrupts
from inbox.api.people import api_keys, invitations, teams
from inbox.api.runs import runs, threads
from inbox.api.webhooks import webhooks

urlpatterns = [
    path("schema/", api_schema, name="api_schema"),
    path("docs/", api_docs, name="api_docs"),
    path("agents", agents.Agents.as_view()),
    path("agents/<slug:slug>", agents.AgentDetail.as_view()),
    path("agents/<slug:slug>/capabilities", agents.AgentCapabilities.as_view()),
    path("agents/<slug:slug>/input-schema", agents.AgentInputSchema.as_view()),
    path("agents/<slug:slug>/test", agents.AgentTest.as_view()),
    path("runs", runs.Runs.as_view()),
    path("runs/<uuid:run_id>", runs.RunDetail.as_view()),
    path("runs/<uuid:run_id>/cancel", runs.RunCancel.as_view()),
    path("runs/<uuid:run_id>/retry", runs.RunRetry.as_view()),
    path("threads", threads.Threads.as_view()),
    path("threads/<uuid:thread_id>", threads.ThreadDetail.as_view()),
    path("threads/<uuid:thread_id>/messages", threads.ThreadMessages.as_view()),
    path("threads/<uuid:thread_id>/state", threads.ThreadStateDetail.as_view()),
    path("threads/<uuid:thread_id>/tool-calls", tool_calls.ThreadToolCalls.as_view()),
    path("threads/<uuid:thread_id>/runs", threads.ThreadRuns.as_view()),
    path("threads/<uuid:thread_id>/audit", audit_entries.ThreadAudit.as_view()),
    path("audit", audit_entries.AuditTrail.as_view()),
    path("audit/export", audit_entries.AuditExport.as_view()),
    path("tool-calls", tool_calls.ToolCalls.as_view()),
    path("interrupts", interrupts.Interrupts.as_view()),
    path("interrupts/<uuid:interrupt_id>", interrupts.InterruptDetail.as_view()),
    path("interrupts/<uuid:interrupt_id>/decide", decisions.InterruptDecide.as_view()),
    path("interrupts/<uuid:interrupt_id>/withdraw", decisions.InterruptWithdraw.as_view()),
    path("interrupts/<uuid:interrupt_id>/claim", claims_and_comments.InterruptClaim.as_view()),
    path(
        "interrupts/<uuid:interrupt_id>/comments", claims_and_comments.InterruptComments.as_view()
    ),
    path("interrupts/decide", decisions.InterruptsDecide.as_view()),
    path("interrupts/withdraw", decisions.InterruptsWithdraw.as_view()),
    path("teams", teams.Teams.as_view()),
    path("teams/<slug:team>", teams.TeamDetail.as_view()),
    path("teams/<slug:team>/members", teams.TeamMembers.as_view()),
    path("teams/<slug:team>/members/<int:user>", teams.MemberDetail.as_view()),
    path("teams/<slug:team>/invitations", invitations.TeamInvitations.as_view()),
    path("invitations/<uuid:invitation_id>", invitations.InvitationDetail.as_view()),
    path("invitations/<uuid:invitation_id>/resend", invitations.InvitationResend.as_view()),
    path("teams/<slug:team>/keys", api_keys.TeamKeys.as_view()),
    path("keys/<uuid:key_id>", api_keys.KeyDetail.as_view()),
    path("keys/<uuid:key_id>/rotate", api_keys.KeyRotate.as_view()),
    path("keys/<uuid:key_id>/revoke", api_keys.KeyRevoke.as_view()),
    path("webhooks", webhooks.Webhooks.as_view()),
    path("webhooks/<uuid:webhook_id>", webhooks.WebhookDetail.as_view()),
    path("webhooks/<uuid:webhook_id>/rotate", webhooks.WebhookRotate.as_view()),
    path("webhooks/<uuid:webhook_id>/test", webhooks.WebhookTest.as_view()),
    path("webhooks/<uuid:webhook_id>/replay", webhooks.WebhookReplay.as_view()),
    path("webhooks/<uuid:webhook_id>/deliveries", webhooks.WebhookDeliveries.as_view()),
    path("deliveries/<uuid:message_id>/send-again", webhooks.DeliverySendAgain.as_view()),
]
