"""The declared table of every address, and what each caller gets there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from inbox.api.monitoring.monitoring_urls import monitoring_urlpatterns
from inbox.api.runs.streaming_urls import streaming_urlpatterns
from inbox.mcp_server.urls import mcp_urlpatterns
from tests.support.security.callers import CSRF, NAMES, Caller

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

# The columns are those of NAMES: nobody, stranger, viewer, reviewer, admin, who left, who is
# inactive; then keys: read, run, decide, admin, of another team, revoked, of the agent that the
# things belong to, of another agent of the team, expired.
_SITE = """
GET  healthz                                     200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  api/agents                                  401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/agents/<slug:slug>                      401 404 200 200 200 404 401 200 200 200 200 404 401 200 404 401
GET  api/agents/<slug:slug>/capabilities         401 404 200 200 200 404 401 200 200 200 200 404 401 200 404 401
GET  api/agents/<slug:slug>/input-schema         401 404 200 200 200 404 401 200 200 200 200 404 401 200 404 401
PUT  api/agents/<slug:slug>                      401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PATCH api/agents/<slug:slug>                     401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/agents/<slug:slug>/test                 401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/limits                                  401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/limits/<slug:team>                      401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
PATCH api/installation/limits/<slug:team>        401 403 403 403 403 403 401 403 403 403 403 403 401 403 403 401
GET  api/runs                                    401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/runs                                    401 404 202 202 202 404 401 403 202 403 403 404 401 202 404 401
GET  api/runs/<uuid:run_id>                      401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
POST api/runs/<uuid:run_id>/cancel               401 404 200 200 200 404 401 403 200 403 403 404 401 200 404 401
POST api/runs/<uuid:run_id>/retry                401 404 409 409 409 404 401 403 409 403 403 404 401 409 404 401
GET  api/requests                                401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/requests                                401 404 201 201 201 404 401 403 201 403 403 404 401 404 404 401
GET  api/requests/<uuid:request_id>              401 404 200 200 200 404 401 403 200 403 403 404 401 404 404 401
POST api/requests/<uuid:request_id>/withdraw     401 404 403 403 403 404 401 403 200 403 403 404 401 404 404 401
POST api/requests/<uuid:request_id>/items/<path:item>/start 401 404 403 403 403 404 401 403 409 403 403 404 401 404 404 401
POST api/requests/<uuid:request_id>/items/<path:item>/report 401 404 403 403 403 404 401 403 409 403 403 404 401 404 404 401
POST api/requests/<uuid:request_id>/items/<path:item>/revoke 401 404 403 403 409 404 401 403 403 403 409 404 401 404 404 401
POST api/files                                   401 415 415 415 415 415 401 415 415 415 415 415 401 415 415 401
GET  api/files/<uuid:file_id>                    401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
DELETE api/files/<uuid:file_id>                  401 404 403 403 204 404 401 403 403 403 204 404 401 403 404 401
GET  api/files/<uuid:file_id>/content            401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/threads                                 401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/threads/<uuid:thread_id>                401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
PATCH api/threads/<uuid:thread_id>               401 404 403 403 204 404 401 403 403 403 204 404 401 403 404 401
GET  api/threads/<uuid:thread_id>/messages       401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/threads/<uuid:thread_id>/state          401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/threads/<uuid:thread_id>/tool-calls     401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/threads/<uuid:thread_id>/runs           401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/threads/<uuid:thread_id>/audit          401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/audit                                   401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/audit/export                            401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
GET  api/tool-calls                              401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/interrupts                              401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/interrupts/<uuid:interrupt_id>          401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
POST api/interrupts/<uuid:interrupt_id>/decide   401 404 403 200 200 404 401 403 403 200 403 404 401 403 404 401
POST api/interrupts/<uuid:interrupt_id>/override 401 404 403 403 403 404 401 403 403 403 403 404 401 403 404 401
POST api/interrupts/<uuid:interrupt_id>/withdraw 401 404 403 403 403 404 401 403 403 403 403 404 401 403 404 401
DELETE api/interrupts/<uuid:interrupt_id>/endorsement 401 404 403 403 403 404 401 403 403 403 403 404 401 403 404 401
POST api/interrupts/<uuid:interrupt_id>/claim    401 404 403 200 200 404 401 403 403 403 403 404 401 404 404 401
DELETE api/interrupts/<uuid:interrupt_id>/claim  401 404 403 204 204 404 401 403 403 403 403 404 401 404 404 401
PUT  api/interrupts/<uuid:interrupt_id>/assignee 401 404 403 422 422 404 401 403 403 403 403 404 401 404 404 401
DELETE api/interrupts/<uuid:interrupt_id>/assignee 401 404 403 204 204 404 401 403 403 403 403 404 401 404 404 401
PUT  api/interrupts/<uuid:interrupt_id>/snooze   401 404 200 200 200 404 401 403 403 403 403 404 401 404 404 401
DELETE api/interrupts/<uuid:interrupt_id>/snooze 401 404 204 204 204 404 401 403 403 403 403 404 401 404 404 401
GET  api/interrupts/<uuid:interrupt_id>/comments 401 404 200 200 200 404 401 200 403 403 403 404 401 403 404 401
POST api/interrupts/<uuid:interrupt_id>/comments 401 404 403 201 201 404 401 403 403 403 403 404 401 404 404 401
POST api/interrupts/decide                       401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/interrupts/withdraw                     401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
GET  api/webhooks                                401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/webhooks                                401 404 403 403 201 404 401 403 403 403 201 404 401 404 404 401
GET  api/webhooks/<uuid:webhook_id>              401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PATCH api/webhooks/<uuid:webhook_id>             401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/webhooks/<uuid:webhook_id>            401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
POST api/webhooks/<uuid:webhook_id>/rotate       401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/webhooks/<uuid:webhook_id>/test         401 404 403 403 202 404 401 403 403 403 202 404 401 404 404 401
POST api/webhooks/<uuid:webhook_id>/replay       401 404 403 403 202 404 401 403 403 403 202 404 401 404 404 401
GET  api/webhooks/<uuid:webhook_id>/deliveries   401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/deliveries/<uuid:message_id>/send-again 401 404 403 403 202 404 401 403 403 403 202 404 401 404 404 401
GET  api/schema                                  200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  api/schema/                                 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  api/teams                                   401 200 200 200 200 200 401 200 200 200 200 200 401 200 200 401
POST api/teams                                   401 403 403 403 403 403 401 403 403 403 403 403 401 403 403 401
GET  api/teams/<slug:team>                       401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
PATCH api/teams/<slug:team>                      401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
GET  api/teams/<slug:team>/members               401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
PATCH api/teams/<slug:team>/members/<int:user> 401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/teams/<slug:team>/members/<int:user> 401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
GET  api/teams/<slug:team>/members/<int:user>/credentials 401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PUT  api/teams/<slug:team>/members/<int:user>/credentials/<uuid:credential_id>/owner 401 404 403 403 404 404 401 403 403 403 404 404 401 404 404 401
GET  api/interrupts/<uuid:interrupt_id>/notifications 401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  api/me/notifications                        401 200 200 200 200 200 401 403 403 403 403 403 401 403 403 401
PUT  api/me/notifications                        401 422 422 422 422 422 401 403 403 403 403 403 401 403 403 401
DELETE api/me/notifications                      401 204 204 204 204 204 401 403 403 403 403 403 401 403 403 401
POST api/me/notifications/test                   401 422 422 422 422 422 401 403 403 403 403 403 401 403 403 401
GET  api/me/absence                              401 200 200 200 200 200 401 403 403 403 403 403 401 403 403 401
PUT  api/me/absence                              401 400 400 400 400 400 401 400 400 400 400 400 401 400 400 401
DELETE api/me/absence                            401 204 204 204 204 204 401 403 403 403 403 403 401 403 403 401
GET  api/me/absence/deputies                     401 200 200 200 200 200 401 403 403 403 403 403 401 403 403 401
DELETE api/me/absence/represented/<int:user>     401 204 204 204 204 204 401 403 403 403 403 403 401 403 403 401
GET  api/me/channels                             401 200 200 200 200 200 401 403 403 403 403 403 401 403 403 401
POST api/me/channels                             401 201 201 201 201 201 401 403 403 403 403 403 401 403 403 401
PUT  api/me/channels                             401 422 422 422 422 422 401 403 403 403 403 403 401 403 403 401
DELETE api/me/channels/<uuid:channel_id>         401 404 404 404 404 404 401 403 403 403 403 403 401 403 403 401
POST api/me/channels/<uuid:channel_id>/test      401 404 404 404 404 404 401 403 403 403 403 403 401 403 403 401
GET  api/teams/<slug:team>/channels              401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/teams/<slug:team>/channels              401 404 403 403 201 404 401 403 403 403 201 404 401 404 404 401
GET  api/teams/<slug:team>/notifications/metrics 401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/channels/<uuid:channel_id>              401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PATCH api/channels/<uuid:channel_id>             401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/channels/<uuid:channel_id>            401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
POST api/channels/<uuid:channel_id>/test         401 404 403 403 202 404 401 403 403 403 202 404 401 404 404 401
GET  api/channels/<uuid:channel_id>/notifications 401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/teams/<slug:team>/presentations         401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PUT  api/teams/<slug:team>/presentations         401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/presentations/<uuid:presentation_id>    401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/presentations/<uuid:presentation_id>  401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
GET  api/teams/<slug:team>/groups                401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
POST api/teams/<slug:team>/groups                401 404 403 403 201 404 401 403 403 403 201 404 401 404 404 401
DELETE api/teams/<slug:team>/groups/<slug:group> 401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
PUT  api/teams/<slug:team>/groups/<slug:group>/members/<int:user> 401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
DELETE api/teams/<slug:team>/groups/<slug:group>/members/<int:user> 401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
GET  api/teams/<slug:team>/grants                401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
GET  api/grants/<uuid:grant_id>                  401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
POST api/grants/<uuid:grant_id>/revoke           401 404 403 200 200 404 401 403 403 200 403 404 401 403 404 401
GET  api/teams/<slug:team>/policy                401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
PUT  api/teams/<slug:team>/policy                401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/teams/<slug:team>/policy              401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
POST api/teams/<slug:team>/policy/publish        401 404 403 403 201 404 401 403 403 403 201 404 401 404 404 401
POST api/teams/<slug:team>/policy/backtest       401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
POST api/teams/<slug:team>/policy/test           401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/policy/versions       401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/policy/warnings       401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
GET  api/installation/policy                     401 403 403 403 403 403 401 403 403 403 403 403 401 403 403 401
POST api/installation/policy                     401 403 403 403 403 403 401 403 403 403 403 403 401 403 403 401
GET  api/teams/<slug:team>/policy/reapply        401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
POST api/teams/<slug:team>/policy/reapply        401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/teams/<slug:team>/policy/shadow         401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/policy/changes        401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/policy/<int:number> 401 404 200 200 200 404 401 200 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/invitations           401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/teams/<slug:team>/invitations           401 404 403 403 201 404 401 403 403 403 403 404 401 404 404 401
DELETE api/invitations/<uuid:invitation_id>      401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
POST api/invitations/<uuid:invitation_id>/resend 401 404 403 403 200 404 401 403 403 403 403 404 401 404 404 401
GET  api/teams/<slug:team>/keys                  401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/teams/<slug:team>/keys                  401 404 403 403 201 404 401 403 403 403 201 404 401 404 404 401
GET  api/teams/<slug:team>/sessions              401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
DELETE api/teams/<slug:team>/sessions/<int:session_id> 401 404 403 403 204 404 401 403 403 403 204 404 401 404 404 401
GET  api/keys/<uuid:key_id>                      401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
PATCH api/keys/<uuid:key_id>                     401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/keys/<uuid:key_id>/rotate               401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
POST api/keys/<uuid:key_id>/revoke               401 404 403 403 200 404 401 403 403 403 200 404 401 404 404 401
GET  api/docs/                                   200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  login/                                      200 302 302 302 302 302 200 200 200 200 200 200 200 200 200 200
POST login/                                      422 302 302 302 302 302 422 422 422 422 422 422 422 422 422 422
POST login/demo/                                 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
GET  login/code/                                 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST login/code/                                 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  login/<slug:provider_id>/                   302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  login/<slug:provider_id>/back/              302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  login/passkey/                              302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST login/passkey/                              302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST logout/                                     302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  password/                                   200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
POST password/                                   422 422 422 422 422 422 422 422 422 422 422 422 422 422 422 422
GET  password/sent/                              200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  password/changed/                           200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  password/<base36:uidb36>-<str:key>/         200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
POST password/<base36:uidb36>-<str:key>/         422 422 422 422 422 422 422 422 422 422 422 422 422 422 422 422
GET  account/                                    302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  account/notifications/                      302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST account/notifications/save                  302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
GET  account/chats/link/<str:token>/              302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST account/chats/link/<str:token>/connect       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST account/chats/<uuid:identity_id>/disconnect  302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST hooks/slack/<uuid:channel_id>                401 401 401 401 401 401 401 401 401 401 401 401 401 401 401 401
POST account/notifications/away                  302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
POST account/notifications/deputy/<int:user>/decline 302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
POST account/notifications/test                  302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
POST account/notifications/pushes                302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
POST account/notifications/browsers/<uuid:channel_id>/test 302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST account/notifications/browsers/<uuid:channel_id>/remove 302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  push-worker.js                              200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  manifest.webmanifest                        200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  decide/<str:token>/                         404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST decide/                                     403 403 403 403 403 403 403 403 403 403 403 403 403 403 403 403
GET  unsubscribe/<str:token>/                    404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST unsubscribe/<str:token>/                    404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST account/name                                302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
GET  account/password/                           302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST account/password/                           302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
GET  account/email/                              302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST account/email/                              302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/email/<str:key>/                    200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
POST account/email/<str:key>/                    404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
GET  account/app/                                302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/app/                                302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/required/                           302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
GET  account/app/remove/                         302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST account/app/remove/                         302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  account/codes/                              302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  account/codes/new/                          302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/codes/new/                          302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/passkeys/add/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/passkeys/add/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/passkeys/<int:pk>/                  302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/passkeys/<int:pk>/                  302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/passkeys/<int:pk>/remove/           302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/passkeys/<int:pk>/remove/           302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/sessions/<int:session_id>/end       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST account/sessions/end                        302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
GET  account/confirm/                            302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST account/confirm/                            302 422 422 422 422 422 302 302 302 302 302 302 302 302 302 302
GET  account/confirm/form/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/confirm/form/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/confirm/code/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/confirm/code/                       302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  account/confirm/passkey/                    302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST account/confirm/passkey/                    302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
POST theme                                       303 303 303 303 303 303 303 303 303 303 303 303 303 303 303 303
POST language/                                   302 302 302 302 302 302 302 302 302 302 302 302 302 302 302 302
GET  <root>                                      302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  decided/                                    302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  decided/<uuid:interrupt_id>/                302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  interrupts/<uuid:interrupt_id>/             302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/decide       302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/claim        302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/release      302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/renew        302 404 403 409 409 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/viewed       302 404 204 204 204 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/withdraw     302 404 403 403 403 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/withdraw-approval 302 404 403 403 403 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/revoke       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/reveal       302 404 403 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  interrupts/<uuid:interrupt_id>/assign/      302 404 403 200 200 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/assign       302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
GET  interrupts/<uuid:interrupt_id>/people       302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  interrupts/<uuid:interrupt_id>/snooze/      302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/snooze       302 404 303 303 303 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/show-again   302 404 303 303 303 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/comment      302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
GET  interrupts/<uuid:interrupt_id>/values       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST interrupts/<uuid:interrupt_id>/files        302 404 400 400 400 404 302 302 302 302 302 302 302 302 302 302
GET  files/<uuid:file_id>/                       302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  files/<uuid:file_id>/view/                  302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  files/<uuid:file_id>/text                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  files/<uuid:file_id>/pages/<int:number>     302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  similar/<uuid:interrupt_id>/                302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  review/                                     302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST review/selected                             302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST review/decide                               302 404 403 200 200 404 302 302 302 302 302 302 302 302 302 302
POST review/withdraw                             302 404 403 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  search/                                     302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST first-steps/hide                            302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
POST views/save                                  302 303 303 303 303 403 302 302 302 302 302 302 302 302 302 302
POST views/<uuid:view_id>/share                  302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST views/<uuid:view_id>/delete                 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST runs/<uuid:run_id>/retry                    302 404 409 409 409 404 302 302 302 302 302 302 302 302 302 302
POST runs/<uuid:run_id>/cancel                   302 404 303 303 303 404 302 302 302 302 302 302 302 302 302 302
GET  runs/                                       302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  runs/new/                                   302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST runs/demo                                   302 404 303 303 303 404 302 302 302 302 302 302 302 302 302 302
GET  help/                                       302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  help/<slug:name>/                           302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST runs/new/<slug:slug>                        302 404 303 303 303 404 302 302 302 302 302 302 302 302 302 302
POST threads/<uuid:thread_id>/keep               302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST threads/<uuid:thread_id>/message            302 404 409 409 409 404 302 302 302 302 302 302 302 302 302 302
GET  agents/                                     302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  agents/<slug:slug>/                         302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST agents/<slug:slug>/test                     302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  agents/<slug:slug>/change/                  302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST agents/<slug:slug>/save                     302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  new-agent/                                  302 200 403 403 200 403 302 302 302 302 302 302 302 302 302 302
POST new-agent/add                               302 303 403 403 303 403 302 302 302 302 302 302 302 302 302 302
GET  new-program/                                302 200 403 403 200 403 302 302 302 302 302 302 302 302 302 302
POST new-program/add                             302 303 403 403 303 403 302 302 302 302 302 302 302 302 302 302
GET  teams/                                      302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/                          302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST agents/<slug:slug>/pause                    302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/limits/                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  installation/limits/<slug:team>/            302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
POST installation/limits/<slug:team>/save        302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/who/                      302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/save                      302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/members/<int:user>/role   302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/members/<int:user>/remove/ 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST keys/<uuid:key_id>/networks                 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/sessions/                 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/sessions/<int:session_id>/end 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/members/<int:user>/remove 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/channels/                 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/channels/new/             302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/channels/add              302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  channels/<uuid:channel_id>/                 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST channels/<uuid:channel_id>/save             302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST channels/<uuid:channel_id>/switch           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST channels/<uuid:channel_id>/test             302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST channels/<uuid:channel_id>/remove           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/presentations/            302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/presentations/tool/       302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/presentations/save        302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST presentations/<uuid:presentation_id>/remove 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/groups/                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/grants/                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST grants/<uuid:grant_id>/revoke               302 404 403 303 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/groups/add                302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/groups/<slug:group>/delete 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/groups/<slug:group>/add   302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/groups/<slug:group>/<int:user>/remove 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/<int:number>/ 302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/<int:number>/draft 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/save               302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/export             302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  installation/policy/                        302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
GET  installation/policy/<int:number>/           302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
POST installation/policy/check                   302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
POST installation/policy/publish                 302 403 403 403 403 403 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/reapply/           302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/reapply/run        302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/shadow/            302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/changes/           302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/import             302 404 403 403 422 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/new/               302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/new/add            302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/strip              302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/new-calendar/      302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/new-calendar/add   302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/calendars/<slug:name>/ 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/calendars/<slug:name>/save 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/rules/<slug:rule_id>/ 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/rules/<slug:rule_id>/save 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/rules/<slug:rule_id>/change 302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/publish            302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/backtest/          302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/backtest/run       302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/policy/try/               302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/try/run            302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/policy/discard            302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/invitations/              302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/invitations/add           302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST invitations/<uuid:invitation_id>/resend     302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST invitations/<uuid:invitation_id>/withdraw   302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  join/<str:token>/                           404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST join/account                                404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST join/team                                   302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/keys/                     302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  teams/<slug:team>/keys/new/                 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST teams/<slug:team>/keys/add                  302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  keys/<uuid:key_id>/                         302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST keys/<uuid:key_id>/rotate                   302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST keys/<uuid:key_id>/revoke                   302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  webhooks/                                   302 200 403 403 200 403 302 302 302 302 302 302 302 302 302 302
GET  webhooks/new/                               302 200 403 403 200 403 302 302 302 302 302 302 302 302 302 302
POST webhooks/add                                302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  webhooks/<uuid:webhook_id>/                 302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  webhooks/<uuid:webhook_id>/change/          302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/save             302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/test             302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/rotate           302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/switch           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/replay           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST webhooks/<uuid:webhook_id>/remove           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
POST deliveries/<uuid:message_id>/send           302 404 403 403 303 404 302 302 302 302 302 302 302 302 302 302
GET  audit/                                      302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  audit/verification                          302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
POST audit/verify                                302 303 303 303 303 403 302 302 302 302 302 302 302 302 302 302
POST audit/export                                302 404 403 403 200 404 302 302 302 302 302 302 302 302 302 302
GET  audit/metrics/                              302 200 200 200 200 200 302 302 302 302 302 302 302 302 302 302
GET  audit/calls/<uuid:call_id>/                 302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
POST audit/calls/<uuid:call_id>/reveal           302 404 403 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  audit/threads/<uuid:thread_id>/             302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
GET  threads/                                    302 303 303 303 303 303 302 302 302 302 302 302 302 302 302 302
GET  threads/<uuid:thread_id>/                   302 404 200 200 200 404 302 302 302 302 302 302 302 302 302 302
"""  # noqa: E501
_STREAMS = """
POST agui/<slug:slug>                            401 404 200 200 200 404 401 403 200 403 403 404 401 200 404 401
POST agui/<slug:slug>/                           401 404 200 200 200 404 401 403 200 403 403 404 401 200 404 401
POST agui/<slug:slug>/connect                    401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
POST agui/<slug:slug>/connect/                   401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  agui/<slug:slug>/capabilities               401 404 200 200 200 404 401 200 200 200 200 404 401 200 404 401
GET  agui/<slug:slug>/capabilities/              401 404 200 200 200 404 401 200 200 200 200 404 401 200 404 401
GET  api/threads/<uuid:thread_id>/events         401 404 200 200 200 404 401 200 403 403 403 404 401 200 404 401
GET  livez                                       200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  readyz                                      200 200 200 200 200 200 200 200 200 200 200 200 200 200 200 200
GET  metrics                                     404 404 404 404 404 404 404 404 404 404 404 404 404 404 404 404
POST mcp                                         401 401 401 401 401 401 401 403 200 403 403 200 401 200 200 401
"""  # noqa: E501

#: One line for all addresses below a prefix, whatever there is: everybody gets the same at each.
_FAMILIES = """
GET  admin                                       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
POST admin                                       302 404 404 404 404 404 302 302 302 302 302 302 302 302 302 302
GET  scim                                        401 401 401 401 401 401 401 401 401 401 401 401 401 401 401 401
POST scim                                        401 401 401 401 401 401 401 401 401 401 401 401 401 401 401 401
PUT  scim                                        401 401 401 401 401 401 401 401 401 401 401 401 401 401 401 401
"""  # noqa: E501


@dataclass(frozen=True)
class Things:
    """The ids that stand in addresses and bodies."""

    interrupt_id: str
    thread_id: str
    run_id: str
    slug: str
    view_digest: str = ""
    policy_digest: str = ""  #: of the draft
    external_id: str = ""
    view_id: str = ""
    webhook_id: str = ""
    message_id: str = ""
    session_id: str = ""
    passkey_id: str = ""
    remote: str = ""  #: the slug of an agent elsewhere, last changed `seen_at`
    seen_at: str = ""
    team: str = ""
    key_id: str = ""
    call_id: str = ""
    group: str = ""
    user: str = ""  #: the id of a viewer
    invitation_id: str = ""
    channel_id: str = ""
    identity_id: str = ""  #: of Bob's account in a chat
    grant_id: str = ""
    file_id: str = ""
    presentation_id: str = ""
    request_id: str = ""  #: of a program
    asking: str = ""  #: the slug of its agent
    provider: str = "corp"  #: an identity provider, which everybody knows

    @classmethod
    def missing(cls, **more: str) -> "Things":
        """As long as those that exist, so that the lengths of answers can be compared."""
        return cls(
            slug="thin-air9",
            remote="thin-air8",
            asking="thin-air7",
            team="thin7",
            group="thinair",
            user="99999",
            session_id="47110001",
            passkey_id="47110002",
            **{name: str(uuid4()) for name in _IDS},
            **more,
        )


_IDS = (
    *("interrupt_id", "thread_id", "run_id", "view_id", "webhook_id", "message_id", "key_id"),
    *("invitation_id", "call_id", "grant_id", "channel_id", "identity_id", "presentation_id"),
    *("file_id", "request_id"),
)
#: Addresses that are about an agent elsewhere.
_REMOTE = {
    *("PUT api/agents/<slug:slug>", "POST api/agents/<slug:slug>/test"),
    *(f"POST agents/<slug:slug>/{what}" for what in ("test", "save")),
    "GET agents/<slug:slug>/change/",
}
#: Addresses that get the thing's id in the body.
_IN_THE_BODY = (
    *(
        "api/runs",
        "api/requests",
        "api/webhooks",
        "webhooks/add",
        "review/decide",
        "review/withdraw",
    ),
    *("api/interrupts/decide", "api/interrupts/withdraw", "api/audit/export", "audit/export"),
)


_WEBHOOK = {"team": "tests", "url": "https://hooks.example.com/", "events": ["run.finished"]}
_INVITATION = {"email": "nora@example.com", "role": "viewer"}
_RULE = {"name": "New", "effect": "ask", "mode": "enforce", "via": ["web"], "save": "1"}
_CHAT = {
    "kind": "slack",
    "label": "#ops",
    "url": "https://hooks.example.com/",
    "events": ["opened"],
    "mode": "at_once",
    "minutes": 5,
}
_BROWSER = {
    "endpoint": "https://push.example.com/x",
    "keys": {
        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx"
        "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    },
}
_CALENDAR = {"name": "shop", "zone": "UTC", "mon": "09:00-17:00", "save": "1"}
_WHOLE: dict[str, dict[str, Any]] = {
    "PUT api/agents/<slug:slug>": {"team": "tests", "url": "https://127.0.0.1:1/", "headers": {}},
    "PATCH api/agents/<slug:slug>": {"environment": "production"},
    "POST api/webhooks": _WEBHOOK,
    "POST webhooks/add": _WEBHOOK,
    "PATCH api/keys/<uuid:key_id>": {"networks": []},
    "POST teams/<slug:team>/save": {"name": "Tests", "grace_seconds": 10},
    "POST teams/<slug:team>/keys/add": {"name": "ci", "scopes": ["read"], "days": "90"},
    "POST webhooks/<uuid:webhook_id>/save": _WEBHOOK,
    "POST teams/<slug:team>/invitations/add": _INVITATION,
    "POST api/teams/<slug:team>/invitations": _INVITATION,
    "POST api/teams/<slug:team>/policy/test": {"tool": "refund", "arguments": {"amount": 1}},
    "POST teams/<slug:team>/policy/try/run": {"tool": "refund", "arguments": "{}"},
    "POST teams/<slug:team>/policy/save": {"document": '{"rules": []}'},
    "POST teams/<slug:team>/policy/<int:number>/draft": {},
    "POST teams/<slug:team>/policy/new/add": _RULE,
    "POST teams/<slug:team>/policy/strip": _RULE,
    "POST teams/<slug:team>/policy/rules/<slug:rule_id>/save": _RULE,
    "POST teams/<slug:team>/policy/new-calendar/add": _CALENDAR,
    "POST teams/<slug:team>/policy/calendars/<slug:name>/save": _CALENDAR,
    "POST teams/<slug:team>/policy/rules/<slug:rule_id>/change": {"do": "off"},
    "PUT api/teams/<slug:team>/presentations": {"tool": "refund", "kind": "money"},
    "POST teams/<slug:team>/presentations/save": {"tool": "refund", "kind": "money"},
    "POST teams/<slug:team>/groups/add": {"name": "leads"},
    "POST api/me/channels": _BROWSER,
    "POST api/teams/<slug:team>/channels": _CHAT,
    "POST teams/<slug:team>/channels/add": _CHAT,
    "POST channels/<uuid:channel_id>/save": _CHAT,
    "POST channels/<uuid:channel_id>/switch": {"on": "0"},
}


@dataclass(frozen=True)
class Route:
    """One method of one address, and the status that each caller gets."""

    method: str
    pattern: str
    statuses: dict[str, int]

    def __str__(self) -> str:
        return f"{self.method} {self.pattern}"

    def path(self, things: Things) -> str:
        path = self.pattern.replace("<root>", "")
        if str(self) in _REMOTE:
            path = path.replace("<slug:slug>", things.remote)
        for kind, name in (
            ("slug", "slug"),
            ("slug", "team"),
            ("slug", "group"),
            ("int", "user"),
            *(("uuid", name) for name in _IDS),
        ):
            path = path.replace(f"<{kind}:{name}>", getattr(things, name))
        for part, value in (
            ("<uuid:credential_id>", things.key_id),
            ("<int:session_id>", things.session_id),
            ("<int:pk>", things.passkey_id),
            ("<slug:provider_id>", things.provider),
            # Keys of mails, which nobody can know.
            ("<base36:uidb36>", "1"),
            ("<str:key>", "no-key"),
            ("<str:token>", "no-token"),
            ("<path:object_id>", things.thread_id),
            ("<str:resource_id>", things.thread_id),
            ("<path:resource_id>", "nothing"),
            ("<path:rest>", "nothing"),
            ("<path:item>", "1"),
            ("<int:number>", "1"),
            ("<slug:app_label>", "inbox"),
            ("<slug:rule_id>", "writes"),
            ("<slug:name>", "office"),
        ):
            path = path.replace(part, value)
        return f"/{path}"

    @property
    def names_a_thing(self) -> bool:
        return ":" in self.pattern or self.pattern in _IN_THE_BODY

    @property
    def is_api(self) -> bool:
        return self.pattern.startswith(("api/", "agui/"))

    def body(self, things: Things) -> dict[str, Any]:
        """A body with which whoever is allowed to call succeeds."""
        digest = things.view_digest
        answer = {"status": "resolved", "payload": {"approved": True}}
        if self.pattern == "api/interrupts/decide":
            return answer | {"items": [{"id": things.interrupt_id, "view_digest": digest}]}
        if self.pattern == "api/interrupts/withdraw":
            return {"ids": [things.interrupt_id]}
        if self.is_api and self.pattern.endswith("/decide"):
            return answer | {"view_digest": digest}
        if str(self) in _WHOLE:
            seen = {"seen": things.policy_digest} if "/policy/" in self.pattern else {}
            return {**_WHOLE[str(self)], **(seen if not self.is_api else {})}
        bodies: dict[str, dict[str, Any]] = {
            "owner": {"user": int(things.user)},
            "role": {"role": "reviewer"},
            "teams": {"slug": "new", "name": "New"},
            "<slug:team>": {"name": "Tests", "grace_seconds": 10},
            "<int:user>": {"role": "viewer"},
            "<uuid:thread_id>": {"is_kept": False},
            "keys": {"name": "ci", "scopes": ["admin"]},
            "policy": {"policy": {"rules": []}},
            "groups": {"name": "leads"},
            "add": {"name": "new", "url": "https://agents.example.com/", "user": things.user},
            "save": {"name": "mine", "url": "https://127.0.0.1:1/", "seen_at": things.seen_at},
            "decide": {
                "action": "reject",
                "view_digest": digest,
                "item": f"{things.interrupt_id}:{digest}",
            },
            "override": {"reason": "The shop is down.", "view_digest": digest},
            "name": {"name": "Somebody Else"},
            "viewed": {"view_digest": digest},
            "assignee": {"user": int(things.user)},
            "snooze": {"until": _tomorrow() if self.is_api else "tomorrow"},
            "export": {"team": things.team, "format": "csv"},
            "withdraw": {} if "requests" in self.pattern else {"id": things.interrupt_id},
            "comment": {"text": "a word among reviewers"},
            "comments": {"text": "a word among reviewers"},
            "requests": {"agent": things.asking, "title": "Deploy?"},
            "start": {"attempt": "a", "args_digest": ""},
            "report": {"attempt": "a", "outcome": "succeeded"},
            "revoke": {},
            "runs": {"agent": things.slug, "message": "rehearse:echo"},
            "message": {"message": "rehearse:echo"},
            "<slug:slug>": {
                "input.base": "=",
                "input.tab": "json",
                "input.json": '{"scenario": "error"}',
            },
        }
        if self.is_api and (self.method == "DELETE" or str(self) in _WITHOUT_BODY):
            return {}
        return bodies.get(self.pattern.rpartition("/")[2], {})


#: Addresses that take no body, beside all with DELETE.
_WITHOUT_BODY = {
    "POST api/interrupts/<uuid:interrupt_id>/withdraw",
    "PUT api/teams/<slug:team>/groups/<slug:group>/members/<int:user>",
}


def _tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def _parse(table: str) -> list[Route]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [
        Route(method, pattern, dict(zip(NAMES, map(int, statuses), strict=True)))
        for method, pattern, *statuses in rows
    ]


@dataclass(frozen=True)
class Family:
    """One method of all addresses below a prefix, and the status that each caller gets there."""

    method: str
    prefix: str
    statuses: dict[str, int]

    def __str__(self) -> str:
        return f"{self.method} {self.prefix}/**"

    def has(self, pattern: str) -> bool:
        return pattern == self.prefix or pattern.startswith(f"{self.prefix}/")

    def routes(self) -> list[Route]:
        patterns = sorted(pattern for pattern in _site_patterns() if self.has(pattern))
        return [Route(self.method, pattern, self.statuses) for pattern in patterns]


SITE = _parse(_SITE)
STREAMS = _parse(_STREAMS)
FAMILIES = [Family(row.method, row.pattern, row.statuses) for row in _parse(_FAMILIES)]
#: The addresses that are about something of one team.
GUARDED_IN_TEAMS = [route for route in SITE if route.statuses["stranger"] == 404]


def site_patterns() -> set[str]:
    """The addresses that have lines of their own to have."""
    return {
        pattern
        for pattern in _site_patterns()
        if not any(family.has(pattern) for family in FAMILIES)
    }


def _site_patterns() -> set[str]:
    return set(_walk(get_resolver(settings.ROOT_URLCONF).url_patterns))


def streaming_patterns() -> set[str]:
    return set(_walk([*monitoring_urlpatterns, *streaming_urlpatterns, *mcp_urlpatterns]))


def _walk(patterns: Any, prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _walk(pattern.url_patterns, path)
        else:
            yield path or "<root>"


def client_of(caller: Caller) -> Client:
    """A client that minds CSRF tokens, as browsers and servers do."""
    client = Client(enforce_csrf_checks=True, headers=caller.headers)
    for name, value in caller.cookies.items():
        client.cookies[name] = value
    return client


def call(route: Route, caller: Caller, things: Things) -> Any:
    """The answer of the site; a page's form carries its token."""
    client, path = client_of(caller), route.path(things)
    if route.method == "GET":
        return client.get(path)
    body = route.body(things)
    if route.is_api:
        return client.generic(route.method, path, json.dumps(body), "application/json")
    if "csrftoken" not in client.cookies:
        client.cookies["csrftoken"] = CSRF
    headers = {"X-CSRFToken": CSRF}
    if route.method == "PUT":
        return client.put(path, headers=headers)
    return client.post(path, body, headers=headers)
