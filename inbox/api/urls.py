"""URLs of the REST API."""

from django.urls import path

from inbox.api.agents import agents, tool_presentations
from inbox.api.audit import audit_entries, tool_calls
from inbox.api.base.openapi import api_docs, get_schema
from inbox.api.decisions import claims_and_comments, decisions, interrupts
from inbox.api.files import files
from inbox.api.limits import limits
from inbox.api.notifications import absences, browsers, chats, preferences
from inbox.api.people import api_keys, groups, invitations, sessions, teams
from inbox.api.policies import grants, installation, policies, reapplying, reviews, trying
from inbox.api.requests import requests
from inbox.api.runs import runs, threads
from inbox.api.webhooks import webhooks

urlpatterns = [
    path("schema", get_schema, name="api_schema"),
    path("schema/", get_schema),
    path("docs/", api_docs, name="api_docs"),
    path("agents", agents.Agents.of("list_agents")),
    path("agents/<slug:slug>", agents.Agents.of("get_agent", "set_agent", "change_agent")),
    path("agents/<slug:slug>/capabilities", agents.Agents.of("get_agent_capabilities")),
    path("agents/<slug:slug>/input-schema", agents.Agents.of("get_agent_input_schema")),
    path("agents/<slug:slug>/test", agents.Agents.of("test_remote_agent")),
    path("limits", limits.LimitViews.of("list_limits")),
    path("limits/<slug:team>", limits.LimitViews.of("get_limits")),
    path("installation/limits/<slug:team>", limits.LimitViews.of("change_limits")),
    path("runs", runs.Runs.of("list_runs", "start_run")),
    path("runs/<uuid:run_id>", runs.Runs.of("get_run")),
    path("runs/<uuid:run_id>/cancel", runs.Runs.of("cancel_run")),
    path("runs/<uuid:run_id>/retry", runs.Runs.of("retry_run")),
    path("requests", requests.Requests.of("list_requests", "ask_for_approval")),
    path("requests/<uuid:request_id>", requests.Requests.of("get_request")),
    path("requests/<uuid:request_id>/withdraw", requests.Requests.of("withdraw_request")),
    path("requests/<uuid:request_id>/items/<path:item>/start", requests.Requests.of("start_call")),
    path(
        "requests/<uuid:request_id>/items/<path:item>/report", requests.Requests.of("report_call")
    ),
    path(
        "requests/<uuid:request_id>/items/<path:item>/revoke",
        requests.Requests.of("revoke_approval"),
    ),
    path("files", files.Files.of("upload_file")),
    path("files/<uuid:file_id>", files.Files.of("get_file", "erase_file")),
    path("files/<uuid:file_id>/content", files.FileContent.of("get_file_content")),
    path("threads", threads.Threads.of("list_threads")),
    path("threads/<uuid:thread_id>", threads.Threads.of("get_thread", "change_thread")),
    path("threads/<uuid:thread_id>/messages", threads.Threads.of("list_messages")),
    path("threads/<uuid:thread_id>/state", threads.Threads.of("get_state")),
    path("threads/<uuid:thread_id>/tool-calls", tool_calls.ToolCalls.of("list_tool_calls")),
    path("threads/<uuid:thread_id>/runs", threads.Threads.of("list_runs_of_thread")),
    path("threads/<uuid:thread_id>/audit", audit_entries.AuditEntries.of("list_audit_entries")),
    path("audit", audit_entries.AuditEntries.of("search_audit")),
    path("audit/export", audit_entries.AuditExport.of("export_audit")),
    path("tool-calls", tool_calls.ToolCalls.of("search_tool_calls")),
    path("interrupts", interrupts.Interrupts.of("list_interrupts")),
    path("interrupts/<uuid:interrupt_id>", interrupts.Interrupts.of("get_interrupt")),
    path("interrupts/<uuid:interrupt_id>/decide", decisions.Decisions.of("decide_interrupt")),
    path("interrupts/<uuid:interrupt_id>/override", decisions.Decisions.of("override_policy")),
    path(
        "interrupts/<uuid:interrupt_id>/endorsement",
        decisions.Decisions.of("withdraw_endorsement"),
    ),
    path("interrupts/<uuid:interrupt_id>/withdraw", decisions.Decisions.of("withdraw_decision")),
    path(
        "interrupts/<uuid:interrupt_id>/claim",
        claims_and_comments.Collaboration.of("claim_interrupt", "release_interrupt"),
    ),
    path(
        "interrupts/<uuid:interrupt_id>/assignee",
        claims_and_comments.Collaboration.of("assign_interrupt", "unassign_interrupt"),
    ),
    path(
        "interrupts/<uuid:interrupt_id>/snooze",
        claims_and_comments.Collaboration.of("snooze_interrupt", "end_snooze"),
    ),
    path(
        "interrupts/<uuid:interrupt_id>/comments",
        claims_and_comments.Collaboration.of("list_comments", "add_comment"),
    ),
    path(
        "interrupts/<uuid:interrupt_id>/notifications",
        chats.InterruptNotifications.of("list_interrupt_notifications"),
    ),
    path("interrupts/decide", decisions.Decisions.of("decide_interrupts")),
    path("interrupts/withdraw", decisions.Decisions.of("withdraw_decisions")),
    path("teams", teams.Teams.of("list_teams", "make_team")),
    path("teams/<slug:team>", teams.Teams.of("get_team", "change_team")),
    path(
        "teams/<slug:team>/policy",
        policies.Policies.of("get_policy", "save_draft", "discard_draft"),
    ),
    path("teams/<slug:team>/policy/publish", policies.Policies.of("publish_draft")),
    path("teams/<slug:team>/policy/backtest", trying.Trying.of("backtest")),
    path("teams/<slug:team>/policy/test", trying.Trying.of("test")),
    path(
        "teams/<slug:team>/policy/warnings",
        reviews.PolicyReviews.of("get_policy_warnings"),
    ),
    path(
        "installation/policy",
        installation.InstallationPolicies.of(
            "list_installation_versions", "publish_installation_policy"
        ),
    ),
    path(
        "teams/<slug:team>/policy/reapply",
        reapplying.Reapplying.of("preview_reapply", "reapply_policy"),
    ),
    path("teams/<slug:team>/policy/shadow", trying.Trying.of("list_shadow_rules")),
    path("teams/<slug:team>/policy/changes", reviews.PolicyReviews.of("compare_policies")),
    path("teams/<slug:team>/policy/versions", policies.Policies.of("list_versions")),
    path("teams/<slug:team>/policy/<int:number>", policies.Policies.of("get_version")),
    path("teams/<slug:team>/grants", grants.Grants.of("list_grants")),
    path("grants/<uuid:grant_id>", grants.Grants.of("get_grant")),
    path("grants/<uuid:grant_id>/revoke", grants.Grants.of("revoke_grant")),
    path("teams/<slug:team>/members", teams.Teams.of("list_members")),
    path("teams/<slug:team>/members/<int:user>", teams.Teams.of("change_member", "remove_member")),
    path("teams/<slug:team>/members/<int:user>/credentials", teams.Teams.of("list_credentials")),
    path(
        "teams/<slug:team>/members/<int:user>/credentials/<uuid:credential_id>/owner",
        teams.Teams.of("hand_over"),
    ),
    path(
        "teams/<slug:team>/presentations",
        tool_presentations.ToolPresentations.of("list_tool_presentations", "set_tool_presentation"),
    ),
    path(
        "presentations/<uuid:presentation_id>",
        tool_presentations.ToolPresentations.of(
            "get_tool_presentation", "remove_tool_presentation"
        ),
    ),
    path("teams/<slug:team>/groups", groups.Groups.of("list_groups", "create_group")),
    path("teams/<slug:team>/groups/<slug:group>", groups.Groups.of("delete_group")),
    path(
        "teams/<slug:team>/groups/<slug:group>/members/<int:user>",
        groups.Groups.of("add_to_group", "remove_from_group"),
    ),
    path("teams/<slug:team>/invitations", invitations.Invitations.of("list_invitations", "invite")),
    path("invitations/<uuid:invitation_id>", invitations.Invitations.of("withdraw_invitation")),
    path(
        "invitations/<uuid:invitation_id>/resend", invitations.Invitations.of("resend_invitation")
    ),
    path("teams/<slug:team>/keys", api_keys.Keys.of("list_keys", "make_key")),
    path("teams/<slug:team>/sessions", sessions.Sessions.of("list_sessions")),
    path("teams/<slug:team>/sessions/<int:session_id>", sessions.Sessions.of("end_session")),
    path("keys/<uuid:key_id>", api_keys.Keys.of("get_key", "change_key")),
    path("keys/<uuid:key_id>/rotate", api_keys.Keys.of("rotate_key")),
    path("keys/<uuid:key_id>/revoke", api_keys.Keys.of("revoke_key")),
    path(
        "me/notifications",
        preferences.MyNotifications.of(
            "get_my_notifications", "set_my_notifications", "end_my_notifications"
        ),
    ),
    path(
        "me/absence",
        absences.MyAbsence.of("get_my_absence", "set_my_absence", "end_my_absence"),
    ),
    path("me/absence/deputies", absences.MyAbsence.of("list_deputies")),
    path("me/absence/represented/<int:user>", absences.MyAbsence.of("decline_deputy")),
    path("me/notifications/test", preferences.MyNotifications.of("test_my_notifications")),
    path(
        "me/channels",
        browsers.MyChannels.of("list_my_channels", "add_my_channel", "set_my_channels"),
    ),
    path("me/channels/<uuid:channel_id>", browsers.MyChannels.of("remove_my_channel")),
    path("me/channels/<uuid:channel_id>/test", browsers.MyChannels.of("test_my_channel")),
    path("teams/<slug:team>/channels", chats.Chats.of("list_chats", "add_chat")),
    path("teams/<slug:team>/notifications/metrics", chats.Chats.of("get_delivery_metrics")),
    path("channels/<uuid:channel_id>", chats.Chats.of("get_chat", "change_chat", "remove_chat")),
    path("channels/<uuid:channel_id>/test", chats.Chats.of("test_chat")),
    path("channels/<uuid:channel_id>/notifications", chats.Chats.of("list_chat_notifications")),
    path("webhooks", webhooks.Webhooks.of("list_webhooks", "add_webhook")),
    path(
        "webhooks/<uuid:webhook_id>",
        webhooks.Webhooks.of("get_webhook", "change_webhook", "remove_webhook"),
    ),
    path("webhooks/<uuid:webhook_id>/rotate", webhooks.Webhooks.of("rotate_webhook_secret")),
    path("webhooks/<uuid:webhook_id>/test", webhooks.Webhooks.of("test_webhook")),
    path("webhooks/<uuid:webhook_id>/replay", webhooks.Webhooks.of("replay_webhook")),
    path("webhooks/<uuid:webhook_id>/deliveries", webhooks.Webhooks.of("list_deliveries")),
    path("deliveries/<uuid:message_id>/send-again", webhooks.Webhooks.of("send_delivery_again")),
]
