"""Pages of directories and their groups."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from inbox.actions.directories import directories, directory_groups
from inbox.admin.pages import ActionForm, ChangedByActions, column
from inbox.admin.site import site
from inbox.models import Directory, DirectoryGroup
from inbox.platform.http.site_address import site_of
from inbox.rules.people.access import Actor, Role
from inbox.rules.people.api_keys import DEFAULT_DAYS_VALID
from inbox.rules.text.safe_text import escape_invisible


class DirectoryForm(ActionForm):
    names = {"networks": "network_lines"}
    network_lines = forms.CharField(
        required=False,
        label=_("Networks"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("One per line, as in 192.0.2.0/24. Leave empty to allow all."),
    )
    links_accounts = forms.BooleanField(
        required=False,
        help_text=_("Let the directory take over people who have confirmed the same address."),
    )
    days = forms.IntegerField(
        required=False,
        initial=DEFAULT_DAYS_VALID,
        help_text=_(
            "Days until the token expires, also a new one. Leave empty for one that does not."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["network_lines"] = "\n".join(self.instance.networks)

    def clean_network_lines(self) -> list[str]:
        return [line for line in self.cleaned_data["network_lines"].splitlines() if line.strip()]


@admin.register(Directory, site=site)
class DirectoryPage(ChangedByActions):
    form = DirectoryForm
    list_display = (
        *(column("name"), "prefix", "links_accounts", "expires_at", "revoked_at", "last_used_at"),
    )
    search_fields = ("name", "prefix")
    heavy = ("digest",)
    readonly_fields: ClassVar[Any] = (
        *("prefix", "people", "created_by", "created_at", "replaced_at", "expires_at"),
        *("revoked_at", "last_used_at", "last_refused_at"),
    )
    buttons = {"_replace": _("New token"), "_revoke": _("Revoke")}
    asks = ("_replace", "_revoke")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return obj is None or obj.revoked_at is None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("name", "links_accounts", "network_lines", "days")
        own = () if obj.revoked_at else ("network_lines", "days")
        return ("name", "links_accounts", *own, *self.readonly_fields)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("name", "links_accounts", *self.readonly_fields) if obj else ()

    def address_of_secret(self, request: HttpRequest) -> str:
        return f"{site_of(request)}/scim/v2"

    def people(self, row: Directory) -> str:
        return str(row.people.count())

    def add(self, actor: Actor, values: dict[str, Any]) -> tuple[Any, str]:
        directory, token = directories.add_directory(
            name=values["name"],
            links_accounts=values["links_accounts"],
            networks=values["network_lines"],
            days=values["days"],
            actor=actor,
        )
        return directory.pk, token

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if button == "_revoke":
            directories.revoke_directory(directory_id=row.pk, actor=actor)
        elif button == "_replace":
            days = form.cleaned_data["days"]
            return directories.replace_token(directory_id=row.pk, days=days, actor=actor)
        elif "network_lines" in form.changed:
            networks = form.changed["network_lines"]
            directories.change_networks(directory_id=row.pk, networks=networks, actor=actor)
        return ""


@admin.register(DirectoryGroup, site=site)
class DirectoryGroupPage(ChangedByActions):
    list_display = (column("display_name", "name"), "directory", "team", "role")
    list_select_related = ("directory", "team")
    list_filter = ("directory", "team")
    search_fields = ("display_name", "external_id")
    fields: ClassVar[Any] = (
        *(column("display_name", "name"), "directory", "team", "role", "people"),
        *("created_at", "changed_at"),
    )
    readonly_fields = tuple(name for name in fields if name not in ("team", "role"))

    def name_of(self, row: DirectoryGroup) -> str:
        return row.display_name

    def people(self, row: DirectoryGroup) -> str:
        """Return the names of the first members."""
        names = row.members.order_by("person__user_name").values_list(
            "person__user_name", flat=True
        )
        return escape_invisible("\n".join(names[:100])) or "-"

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if form.changed:
            team, role = form.cleaned_data["team"], form.cleaned_data["role"]
            directory_groups.map_group(
                group_id=row.pk,
                team_id=team.pk if team else None,
                role=Role(role) if role else None,
                actor=actor,
            )
        return ""
