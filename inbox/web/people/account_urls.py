"""
URLs of sign-in and of the user's own account.

They have the names that django-allauth reverses, but only the views that are needed. There is no
public sign-up.
"""

from typing import Any

from allauth.account import views as allauth
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from django.conf import settings
from django.contrib.auth.views import LogoutView
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_http_methods

from inbox.web.people import (
    account_page,
    mfa,
    passwords,
    sign_in,
)
from inbox.web.people.mfa import atomic_post


def _read(view: Any) -> Any:
    return require_http_methods(["GET", "HEAD"])(view)


def _form(view: Any) -> Any:
    """Reject other methods before a view redirects to sign-in."""
    return require_http_methods(["GET", "HEAD", "POST"])(view)


class Base36(StringConverter):
    """A base-36 number in the links of mails; a hyphen ends it."""

    regex = "[0-9A-Za-z]+"


register_converter(Base36, "base36")

urlpatterns = [
    path("login/", _form(sign_in.SignIn.as_view()), name="account_login"),
    path("login/code/", _form(sign_in.SecondFactor.as_view()), name="mfa_authenticate"),
    path("login/passkey/", _form(sign_in.PasskeySignIn.as_view()), name="mfa_login_webauthn"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", _form(passwords.PasswordReset.as_view()), name="account_reset_password"),
    path("password/sent/", _read(allauth.password_reset_done), name="account_reset_password_done"),
    path(
        "password/changed/",
        _read(allauth.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    path(
        "password/<base36:uidb36>-<str:key>/",
        _form(passwords.PasswordResetConfirm.as_view()),
        name="account_reset_password_from_key",
    ),
    # django-allauth redirects to several pages that are one page here.
    *(
        path("account/", account_page.account, name=name)
        for name in ("account", "mfa_index", "mfa_list_webauthn")
    ),
    path("account/name", account_page.rename, name="change_own_name"),
    path(
        "account/password/",
        _form(passwords.PasswordChange.as_view()),
        name="account_change_password",
    ),
    path(
        "account/email/",
        _form(atomic_post(account_page.EmailAddresses.as_view())),
        name="account_email",
    ),
    path(
        "account/email/<str:key>/",
        _form(atomic_post(allauth.confirm_email)),
        name="account_confirm_email",
    ),
    path("account/app/", _form(atomic_post(mfa.AddApp.as_view())), name="mfa_activate_totp"),
    path(
        "account/app/remove/", _form(atomic_post(totp.deactivate_totp)), name="mfa_deactivate_totp"
    ),
    path("account/codes/", _read(codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "account/codes/new/",
        _form(atomic_post(mfa.NewCodes.as_view())),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "account/passkeys/add/",
        _form(atomic_post(mfa.AddPasskey.as_view())),
        name="mfa_add_webauthn",
    ),
    path(
        "account/passkeys/<int:pk>/",
        _form(mfa.RenamePasskey.as_view()),
        name="mfa_edit_webauthn",
    ),
    path(
        "account/passkeys/<int:pk>/remove/",
        _form(atomic_post(mfa.RemovePasskey.as_view())),
        name="mfa_remove_webauthn",
    ),
    path("account/sessions/<int:session_id>/end", account_page.end_session, name="end_session"),
    path("account/sessions/end", account_page.end_other_sessions, name="end_other_sessions"),
    path(
        "account/confirm/",
        _form(sign_in.ConfirmPassword.as_view()),
        name="account_reauthenticate",
    ),
    path("account/confirm/code/", _form(sign_in.ConfirmCode.as_view()), name="mfa_reauthenticate"),
    path(
        "account/confirm/passkey/",
        _form(sign_in.ConfirmPasskey.as_view()),
        name="mfa_reauthenticate_webauthn",
    ),
]
if settings.OIDC_PROVIDERS:
    from inbox.web.people import oidc

    urlpatterns += [
        path("login/<slug:provider_id>/", _read(oidc.start_sign_in), name="openid_connect_login"),
        path(
            "login/<slug:provider_id>/back/",
            _read(oidc.callback),
            name="openid_connect_callback",
        ),
    ]
