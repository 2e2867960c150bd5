"""Pages of teams, memberships, agents, API keys and webhooks."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from inbox.actions.agents import remote_agents
from inbox.actions.people import api_keys, members
from inbox.actions.webhooks import endpoints
from inbox.admin.pages import ActionForm, ChangedByActions, column
from inbox.admin.site import site
from inbox.models import Agent, ApiKey, Membership, Team, WebhookEndpoint
from inbox.queries.agents.agents import header_names_of
from inbox.rules.agents.remote_agents import is_remote
from inbox.rules.people.access import Actor, Permission, Role
from inbox.rules.people.api_keys import DEFAULT_DAYS_VALID, DEFAULT_OVERLAP_HOURS
from inbox.rules.webhooks.delivery_rules import EventType

_TEAMS = Team.objects.order_by("name", "pk")
_SCOPES = [(scope.value, scope.value) for scope in Permission]
_EVENTS = [(kind.value, kind.value) for kind in EventType]


@admin.register(Team, site=site)
class TeamPage(ChangedByActions):
    list_display = (column("name"), "slug", "grace_seconds")
    search_fields = ("name", "slug")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (
            ("slug", "name", "grace_seconds", "request_expiry_hours", "members")
            if obj
            else ("slug", "name")
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("slug", "members") if obj else ()

    def members(self, row: Team) -> str:
        memberships = row.memberships.select_related("user").order_by("role", "user__username")
        return "\n".join(f"{row.user.get_username()}: {row.role}" for row in memberships)

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        return members.make_team(slug=values["slug"], name=values["name"], actor=actor).pk, ""

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        members.change_team(team_id=row.pk, actor=actor, **form.changed)
        return ""


@admin.register(Membership, site=site)
class MembershipPage(ChangedByActions):
    list_display = ("id", "user", "team", "role")
    list_select_related = ("user", "team")
    list_filter = ("team", "role")
    search_fields = ("user__username",)
    search_ids = ("team",)
    fields = ("team", "user", "role")
    readonly_fields = ("team", "user")
    buttons = {"_remove": _("Remove")}
    asks = ("_remove",)

    def name_of(self, row: Membership) -> str:
        return f"{row.user.get_username()}, {row.team.name}"

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        who = {"team_id": row.team_id, "user_id": row.user_id, "actor": actor}
        if button:
            members.remove_member(**who)
        elif "role" in form.changed:
            members.change_role(role=Role(form.changed["role"]), **who)
        return ""


class AgentForm(ActionForm):
    names = {"name": "slug"}
    team = forms.ModelChoiceField(_TEAMS)
    url = forms.CharField(max_length=2_000)
    headers = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "One per line, as in “Authorization: Bearer ...”. Leave empty to keep "
            "the stored headers; their values are never displayed."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        endpoint = getattr(self.instance, "endpoint", None)
        if endpoint is not None:
            self.initial["url"] = endpoint.url

    def clean_headers(self) -> dict[str, str] | None:
        lines = [line for line in self.cleaned_data["headers"].splitlines() if line.strip()]
        if any(":" not in line for line in lines):
            raise forms.ValidationError(_("Write each header as a name, a colon and a value."))
        pairs = (line.split(":", 1) for line in lines)
        return {name.strip(): value.strip() for name, value in pairs} or None


@admin.register(Agent, site=site)
class AgentPage(ChangedByActions):
    """A page of agents; only remote ones can be changed, the others are defined in code."""

    form = AgentForm
    list_display = ("slug", "team", column("implementation"), column("description"), "created_at")
    list_select_related = ("team",)
    list_filter = ("team",)
    search_fields = ("slug", "description")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or is_remote(obj.implementation)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("team", "slug", "url", "description", "headers")
        if is_remote(obj.implementation):
            return ("team", "slug", "url", "description", "header_names", "headers")
        return ("team", "slug", column("implementation"), column("description"), "created_at")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("team", "slug", "header_names") if obj else ()

    def header_names(self, row: Agent) -> str:
        """Return the header names, "" if they cannot be decrypted."""
        return ", ".join(header_names_of(row) or ())

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        team = values.pop("team")
        values["headers"] = values["headers"] or {}
        placed = remote_agents.set_remote_agent(
            team_id=team.pk, actor=actor, must_be_new=True, **values
        )
        return placed.agent.pk, ""

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        remote_agents.set_remote_agent(
            team_id=row.team_id,
            slug=row.slug,
            url=form.changed.get("url", row.endpoint.url),
            headers=form.cleaned_data["headers"],
            description=form.changed.get("description"),
            seen_at=row.endpoint.changed_at,
            actor=actor,
        )
        return ""


class KeyForm(ActionForm):
    names = {"agent": "of_agent"}
    team = forms.ModelChoiceField(_TEAMS)
    scopes = forms.MultipleChoiceField(choices=_SCOPES, widget=forms.CheckboxSelectMultiple)
    days = forms.IntegerField(
        required=False,
        initial=DEFAULT_DAYS_VALID,
        help_text=_("Leave empty for a key that does not expire."),
    )
    of_agent = forms.CharField(
        required=False, label="agent", help_text=_("The agent that the key belongs to.")
    )
    overlap_hours = forms.IntegerField(
        initial=DEFAULT_OVERLAP_HOURS,
        help_text=_(
            "Hours until the old token stops working after a new one is created, 0 to 168."
        ),
    )


@admin.register(ApiKey, site=site)
class KeyPage(ChangedByActions):
    form = KeyForm
    list_display = (
        *("name", "prefix", "team", "agent", "scopes", "expires_at", "revoked_at", "last_used_at"),
    )
    list_select_related = ("team", "agent")
    list_filter = ("team",)
    search_fields = ("name", "prefix")
    readonly_fields = (
        *("prefix", "agent", "created_by", "created_at", "rotated_at", "former_until"),
        *("expires_at", "revoked_at", "last_used_at", "last_refused_at"),
    )
    buttons = {"_rotate": _("New token"), "_revoke": _("Revoke")}
    asks = ("_revoke",)

    def name_of(self, row: ApiKey) -> str:
        return f"{row.name} ({row.prefix}), {row.team.name}"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.revoked_at is None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("team", "name", "scopes", "days", "of_agent")
        over = () if obj.revoked_at else ("overlap_hours",)
        return ("team", "name", "scopes", *self.readonly_fields, *over)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("overlap_hours",)
        return ("team", "name", "scopes", "days", "of_agent", *self.readonly_fields)

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        key, token = api_keys.make_key(
            team_id=values["team"].pk,
            name=values["name"],
            scopes={Permission(scope) for scope in values["scopes"]},
            days=values["days"],
            agent=values["of_agent"],
            actor=actor,
        )
        return key.pk, token

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if button == "_revoke":
            api_keys.revoke_key(key_id=row.pk, actor=actor)
        if button != "_rotate":
            return ""
        hours = form.cleaned_data["overlap_hours"]
        return api_keys.rotate_key(key_id=row.pk, actor=actor, overlap_hours=hours)[1]


class WebhookForm(ActionForm):
    names = {"events": "event_types"}
    team = forms.ModelChoiceField(_TEAMS)
    event_types = forms.MultipleChoiceField(choices=_EVENTS, widget=forms.CheckboxSelectMultiple)
    enabled = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["enabled"] = self.instance.disabled_at is None


@admin.register(WebhookEndpoint, site=site)
class WebhookPage(ChangedByActions):
    form = WebhookForm
    list_display = ("host", "team", "description", "disabled_reason", "created_at", "removed_at")
    list_select_related = ("team",)
    list_filter = ("team",)
    search_fields = ("description",)
    readonly_fields = (
        *("disabled_at", "disabled_reason", "failures", "failing_since", "former_until"),
        *("created_at", "changed_at", "removed_at"),
    )
    buttons = {"_rotate": _("New secret"), "_remove": _("Remove")}
    asks = ("_remove",)

    def name_of(self, row: WebhookEndpoint) -> str:
        return f"{row.description or self.host(row)}, {row.team.name}"

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.removed_at is None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("team", "url", "description", "event_types")
        switch = () if obj.removed_at else ("enabled",)
        return ("team", "url", "description", "event_types", *switch, *self.readonly_fields)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("team", *self.readonly_fields) if obj else ("enabled",)

    def host(self, row: WebhookEndpoint) -> str:
        """Return the host only: the URLs of some receivers contain a secret."""
        return urlsplit(row.url).hostname or ""

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        team = values.pop("team")
        endpoint, secret = endpoints.add_webhook(team_id=team.pk, actor=actor, **values)
        return endpoint.pk, secret

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if button == "_rotate":
            return endpoints.rotate_secret(endpoint_id=row.pk, actor=actor)[1]
        if button == "_remove":
            endpoints.remove_webhook(endpoint_id=row.pk, actor=actor)
        else:
            endpoints.change_webhook(endpoint_id=row.pk, actor=actor, **form.changed)
        return ""
