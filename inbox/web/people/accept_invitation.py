"""The pages behind an invitation link: create an account, or join with the current one."""

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from django import forms
from django.conf import settings
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from inbox.actions.people.accept_invitation import join_team, join_with_new_account
from inbox.queries.people.api_keys import actor_of_user
from inbox.queries.people.invitations import joined_team, open_invitation
from inbox.queries.people.password_validators import validate_password_of_invited
from inbox.rules import errors
from inbox.rules.people.access import Actor, Role
from inbox.rules.text.safe_text import escape_invisible
from inbox.web.base.pages import post_page, see_other
from inbox.web.base.translate import translate
from inbox.web.people.teams import ROLES


class NewAccount(forms.Form):
    username = UsernameField(
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        error_messages={"required": _("Choose a user name.")},
    )
    name = forms.CharField(max_length=150, error_messages={"required": _("Enter your name.")})
    password = forms.CharField(
        max_length=4096,
        strip=False,
        error_messages={"required": _("Choose a password.")},
    )

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if "@" in name:  # it could be somebody else's e-mail address, which works at sign-in
            raise forms.ValidationError(gettext("A user name cannot contain @."))
        return name

    def has_valid_password(self, token: str) -> bool:
        """Return whether the invited person may have the password; add the form's errors."""
        values = self.cleaned_data
        try:
            validate_password_of_invited(
                open_invitation(token), values["username"], values["name"], values["password"]
            )
        except forms.ValidationError as error:
            self.add_error("password", error)
        return not self.errors


@require_safe
@never_cache
def invited(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation; joining needs a POST, because mail scanners open links."""
    user = request.user
    # Signing in at an identity provider has accepted the invitation already.
    if user.is_authenticated and (team := joined_team(actor_of_user(user), token)):
        return HttpResponseRedirect(reverse("team", args=[team.slug]))
    return _show(request, token)


@post_page
def join(request: HttpRequest, actor: Actor) -> HttpResponse:
    token = request.POST.get("token", "")
    try:
        team = join_team(token=token, actor=actor)
    except errors.AlreadyMember as refusal:
        return _show(request, token, notice=translate(refusal.message), status=409)
    except errors.InvitationEnded as refusal:
        return _show_ended(request, refusal)
    return see_other("team", team.slug)


@require_POST
@never_cache
def make_account(request: HttpRequest) -> HttpResponse:
    """Create an account and sign in. The token is in the body, because logs contain URLs."""
    token, form = request.POST.get("token", ""), NewAccount(request.POST)
    if request.user.is_authenticated or not form.is_valid():
        return _show(request, token, form=form, status=422)
    values = form.cleaned_data
    try:
        if not form.has_valid_password(token):
            return _show(request, token, form=form, status=422)
        user = join_with_new_account(
            token=token,
            username=values["username"],
            full_name=values["name"],
            password=values["password"],
        )
    except errors.NotFound as error:
        raise Http404() from error
    except errors.InvitationEnded as refusal:
        return _show_ended(request, refusal)
    except errors.InvalidValue as refusal:
        for field, messages in refusal.detail["problems"].items():
            form.add_error(field, [translate(message) for message in messages])
        return _show(request, token, form=form, status=422)
    except (errors.UsernameTaken, errors.EmailTaken) as refusal:
        form.add_error(
            "username" if refusal.code == "USERNAME_TAKEN" else None, translate(refusal.message)
        )
        return _show(request, token, form=form, status=422)
    response: HttpResponse = perform_password_login(
        request, {"username": user.get_username()}, Login(user=user)
    )
    return response


def _show(
    request: HttpRequest,
    token: str,
    *,
    form: NewAccount | None = None,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    try:
        row = open_invitation(token)
    except errors.NotFound as error:
        raise Http404() from error
    except errors.InvitationEnded as refusal:
        return _show_ended(request, refusal)
    user = request.user
    context = {
        "token": token,
        "team": escape_invisible(row.team.name),
        "role": gettext(ROLES[Role(row.role)]),
        "invited_by": escape_invisible(row.invited_by),
        "email": row.email,
        "me": escape_invisible(user.display_name) if user.is_authenticated else "",
        "form": form or NewAccount(),
        "notice": notice,
        "page_url": reverse("invited", args=[token]),
        "providers": settings.OIDC_PROVIDERS,
    }
    return render(request, "people/join.html", context, status=status)


def _show_ended(request: HttpRequest, refusal: errors.InvitationEnded) -> HttpResponse:
    """Render the reason without disclosing the invited address."""
    return render(
        request, "people/join_ended.html", {"reason": translate(refusal.message)}, status=410
    )
