"""
URLs of sign-in and of the user's own account.

They have the names that django-allauth reverses, but only the views that are needed. There is no
public sign-up.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

from allauth.account import views as allauth
from allauth.account.internal.flows.reauthentication import STATE_SESSION_KEY
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LogoutView
from django.db import transaction
from django.http import HttpRequest
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_http_methods, require_safe

from inbox.web.base import demo, step_up
from inbox.web.people import account_page, mfa, passwords, sign_in
from inbox.web.people.membership import required_sign_in


def _form(view: Any, *, is_atomic: bool = False) -> Callable[..., Any]:
    """
    Reject other methods before the view redirects to sign-in, and respond 422 to invalid forms.

    An atomic POST commits the change and its audit entry together.
    """
    view_function: Any = view.as_view() if hasattr(view, "as_view") else view

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view_function)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        is_post = request.method == "POST"
        waits = STATE_SESSION_KEY in request.session
        with transaction.atomic() if is_post and is_atomic else nullcontext():
            response = view_function(request, *args, **kwargs)
        is_resumed = waits and STATE_SESSION_KEY not in request.session
        # After a valid form the views redirect, unless a form that waited for it is resumed.
        if is_post and response.status_code == 200 and not is_resumed:
            response.status_code = 422
        return response

    return wrapped


def _atomic_form(view: Any) -> Callable[..., Any]:
    return _form(view, is_atomic=True)


class Base36(StringConverter):
    """A base-36 number in the links of mails; a hyphen ends it."""

    regex = "[0-9A-Za-z]+"


register_converter(Base36, "base36")

urlpatterns = [
    path("login/", _form(sign_in.SignIn), name="account_login"),
    path("login/demo/", demo.sign_in, name="demo_sign_in"),
    path("login/code/", _form(factors.AuthenticateView), name="mfa_authenticate"),
    path("login/passkey/", _form(sign_in.PasskeySignIn), name="mfa_login_webauthn"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", _form(allauth.PasswordResetView), name="account_reset_password"),
    path(
        "password/sent/",
        require_safe(allauth.password_reset_done),
        name="account_reset_password_done",
    ),
    path(
        "password/changed/",
        require_safe(allauth.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    path(
        "password/<base36:uidb36>-<str:key>/",
        _form(allauth.PasswordResetFromKeyView),
        name="account_reset_password_from_key",
    ),
    # django-allauth redirects to several pages that are one page here.
    *(
        path("account/", account_page.account, name=name)
        for name in ("account", "mfa_index", "mfa_list_webauthn")
    ),
    path("account/required/", required_sign_in.required_page, name="required_sign_in"),
    path("account/name", account_page.rename, name="change_own_name"),
    path("account/password/", _form(passwords.PasswordChange), name="account_change_password"),
    path("account/email/", _atomic_form(allauth.EmailView), name="account_email"),
    path(
        "account/email/<str:key>/",
        _atomic_form(allauth.confirm_email),
        name="account_confirm_email",
    ),
    path("account/app/", _atomic_form(totp.ActivateTOTPView), name="mfa_activate_totp"),
    path("account/app/remove/", _atomic_form(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("account/codes/", require_safe(codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "account/codes/new/",
        _atomic_form(codes.GenerateRecoveryCodesView),
        name="mfa_generate_recovery_codes",
    ),
    path("account/passkeys/add/", _atomic_form(mfa.AddPasskey), name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/", _form(mfa.RenamePasskey), name="mfa_edit_webauthn"),
    path(
        "account/passkeys/<int:pk>/remove/",
        _atomic_form(mfa.RemovePasskey),
        name="mfa_remove_webauthn",
    ),
    path("account/sessions/<int:session_id>/end", account_page.end_session, name="end_session"),
    path("account/sessions/end", account_page.end_other_sessions, name="end_other_sessions"),
    path("account/confirm/", _form(sign_in.ConfirmPassword), name="account_reauthenticate"),
    path(
        "account/confirm/form/",
        login_required(require_http_methods(["GET", "HEAD", "POST"])(step_up.send_waiting_form)),
        name="send_waiting_form",
    ),
    path("account/confirm/code/", _form(factors.ReauthenticateView), name="mfa_reauthenticate"),
    path(
        "account/confirm/passkey/",
        _form(sign_in.ConfirmPasskey),
        name="mfa_reauthenticate_webauthn",
    ),
]
if settings.OIDC_PROVIDERS:
    from inbox.web.people import oidc

    urlpatterns += [
        path(
            "login/<slug:provider_id>/",
            require_safe(oidc.start_sign_in),
            name="openid_connect_login",
        ),
        path(
            "login/<slug:provider_id>/back/",
            require_safe(oidc.callback),
            name="openid_connect_callback",
        ),
    ]
