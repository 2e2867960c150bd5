"""Pages of users, who can be deactivated, and of their sessions."""

from typing import Any, ClassVar

from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from inbox.actions.people import accounts
from inbox.actions.people.member_sessions import end_any_session
from inbox.admin.pages import ChangedByActions, column
from inbox.admin.site import site
from inbox.models import User
from inbox.queries.people.credentials import owned_names
from inbox.rules.people.access import Actor
from inbox.rules.text.safe_text import escape_invisible


@admin.register(User, site=site)
class UserPage(ChangedByActions):
    list_display = (
        *("username", column("display_name", "name"), "is_active", "is_superuser", "last_login"),
    )
    list_filter = ("memberships__team", "is_active", "is_superuser")
    search_fields = ("username", "first_name", "last_name", "emailaddress__email")
    search_ids = ("memberships__team",)
    heavy = ("password",)
    fields: ClassVar[Any] = (
        *("username", column("display_name", "name"), "email", "teams", "owned", "is_active"),
        *("directory", "is_superuser", "last_login", "date_joined"),
    )
    readonly_fields = tuple(name for name in fields if name != "is_active")

    def teams(self, row: User) -> str:
        memberships = row.memberships.select_related("team").order_by("team__name")
        return "\n".join(f"{membership.team.name}: {membership.role}" for membership in memberships)

    def directory(self, row: User) -> str:
        """Return the directory to which the person belongs."""
        person = getattr(row, "directory_user", None)
        return escape_invisible(person.directory.name) if person else "-"

    @admin.display(description=_("ends on deactivation"))
    def owned(self, row: User) -> str:
        """Return the keys, webhooks and invitations that end when the person is deactivated."""
        names = owned_names(row.pk)
        return escape_invisible("\n".join(names)) or "-"

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if "is_active" in form.changed:
            is_active = form.changed["is_active"]
            accounts.set_active(user_id=row.pk, is_active=is_active, actor=actor)
        return ""


@admin.register(UserSession, site=site)
class SessionPage(ChangedByActions):
    list_display = ("id", "user", "ip", column("user_agent"), "created_at", "last_seen_at")
    list_select_related = ("user",)
    list_filter = ("user__memberships__team",)
    search_fields = ("user__username", "ip")
    search_ids = ("user__memberships__team",)
    heavy = ("session_key", "data")
    fields: ClassVar[Any] = ("user", "ip", column("user_agent"), "created_at", "last_seen_at")
    readonly_fields = fields
    buttons = {"_end": _("End session")}
    asks = ("_end",)

    def name_of(self, row: UserSession) -> str:
        return f"{row.user.get_username()}, {row.ip}"

    def change(self, actor: Actor, row: Any, form: Any, button: str) -> str:
        if button:
            end_any_session(session_id=row.pk, actor=actor)
        return ""
