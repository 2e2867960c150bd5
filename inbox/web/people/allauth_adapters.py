"""Adapters of django-allauth: texts, URLs, rate limits and audit entries."""

from __future__ import annotations

import base64
import secrets
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.account.models import EmailAddress
from allauth.account.signals import (
    authentication_step_completed,
    email_added,
    email_changed,
    email_confirmed,
    email_removed,
)
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from axes.signals import user_locked_out
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.cache import cache
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from inbox.actions.people import accounts
from inbox.platform.client_ip import client_ip_of
from inbox.platform.encryption import DecryptionFailed, decrypt, encrypt
from inbox.queries.people.api_keys import actor_of_user
from inbox.web.people import sign_in_limits
from inbox.web.people.mails import mail_of, send_in_background

if TYPE_CHECKING:
    from inbox.models import User


log = structlog.get_logger(__name__)

_MISMATCH: Final = _("Enter a correct username and password.")
#: Messages by django-allauth's template name; others are not displayed.
_MESSAGES: Final = {
    "account/messages/password_changed.txt": gettext_noop(
        "Your password was changed. Your other sessions were ended."
    ),
    "account/messages/email_confirmation_sent.txt": gettext_noop(
        "We sent a mail to {email}. Open the link in it."
    ),
    "account/messages/email_confirmed.txt": gettext_noop("{email} is confirmed."),
    "account/messages/email_deleted.txt": gettext_noop("{email} was removed."),
    "account/messages/cannot_delete_primary_email.txt": gettext_noop(
        "{email} is your primary address. Make another address primary first."
    ),
    "account/messages/primary_email_set.txt": gettext_noop(
        "Account mails now go to another address."
    ),
    "account/messages/unverified_primary_email.txt": gettext_noop("Confirm the address first."),
    "mfa/messages/totp_activated.txt": gettext_noop("The authenticator app was added."),
    "mfa/messages/totp_deactivated.txt": gettext_noop("The authenticator app was removed."),
    "mfa/messages/webauthn_added.txt": gettext_noop("The passkey was added."),
    "mfa/messages/webauthn_removed.txt": gettext_noop("The passkey was removed."),
}
#: As long as AXES_COOLOFF_TIME.
_LOCK_SECONDS: Final = 15 * 60
_INACTIVE: Final = gettext_noop("This account is deactivated.")


class AccountAdapter(DefaultAccountAdapter):
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _MISMATCH,
        "email_password_mismatch": _MISMATCH,
        "incorrect_password": _("That password is wrong."),
        "enter_current_password": _("That password is wrong."),
        "incorrect_code": _("That code is wrong or has expired."),
        "too_many_login_attempts": _("Too many attempts. Try again in five minutes."),
        "rate_limited": _("Too many attempts. Try again in five minutes."),
        "duplicate_email": _("You have already added this address."),
        "max_email_addresses": _("You can have at most %d addresses."),
        "invalid_password_reset": _("This link has been used or has expired."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Skip allauth's rate limit by name, which would let attackers lock out users."""

    def authenticate(self, request: Any, **credentials: Any) -> AbstractBaseUser | None:
        request.sign_in_waits = sign_in_limits.seconds_to_wait(request, credentials)
        if request.sign_in_waits:
            log.warning(
                "sign-in refused", address=client_ip_of(request), reason="too many failures"
            )
            return None
        user = authenticate(request, **credentials)
        # Otherwise allauth would disclose that an inactive account's password was right.
        AuthenticationBackend.unstash_authenticated_user()
        return user

    def login(self, request: HttpRequest, user: User) -> None:  # type: ignore[override]
        super().login(request, user)
        accounts.record_sign_in(actor=actor_of_user(user, request.session))

    def post_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse:  # type: ignore[override]
        response = super().post_login(request, user, **more)
        sign_in_limits.store_browser(response, user)
        return response

    def respond_user_inactive(self, request: HttpRequest, user: AbstractBaseUser) -> HttpResponse:
        messages.error(request, gettext(_INACTIVE))
        return HttpResponseRedirect(reverse("account_login"))

    def set_password(self, user: User, password: str) -> None:  # type: ignore[override]
        signed_in = context.request.user.is_authenticated
        actor = actor_of_user(user, context.request.session if signed_in else None)
        accounts.change_password(user=user, password=password, actor=actor)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if message_template in _MESSAGES:
            message = gettext(_MESSAGES[message_template]).format(**(message_context or {}))
        if message:
            messages.add_message(request, level, message)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        message = mail_of(template_prefix, email, context)
        transaction.on_commit(lambda: send_in_background(message))

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_ip_of(request)

    def is_safe_url(self, url: str) -> bool:
        return url_has_allowed_host_and_scheme(url, {context.request.get_host()})

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        is_here = context.request.user.is_authenticated
        return reverse("account_email" if is_here else "account_login")

    def get_reset_password_from_key_url(self, key: str) -> str:
        return _public(super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return _public(super().get_email_confirmation_url(request, emailconfirmation))


def _public(url: str) -> str:
    """Return the URL on the public host, whatever Host header the request has."""
    parts = urlsplit(url)
    return f"{settings.PUBLIC_URL}{parts.path}" if settings.PUBLIC_URL else url


class FactorAdapter(DefaultMFAAdapter):
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
        "cannot_generate_recovery_codes": _("Add an authenticator app or a passkey first."),
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return str(decrypt(encrypted_text))
        except DecryptionFailed:  # encrypted with another secret key: use a seed that no code fits
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Any) -> str:  # noqa: A002 - its name
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return gettext("Passkey {number}").format(number=count + 1)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        host = urlsplit(settings.PUBLIC_URL or f"//{context.request.get_host()}").hostname
        return {"id": host or "localhost", "name": "Signoff"}


@receiver(authentication_step_completed)
def _step_completed(request: HttpRequest, *, reauthenticated: bool = False, **_more: Any) -> None:
    """Renew the session at a confirmation of the identity; Django does so at a sign-in."""
    if reauthenticated:
        accounts.renew_session(request.session)


# Not allauth's signals, which come after the commit: the audit entry must commit with the change.
@receiver(post_save, sender=Authenticator)
def _factor_saved(instance: Authenticator, created: bool, **_more: Any) -> None:
    if created:
        _record_factor(instance, added=True)


@receiver(post_delete, sender=Authenticator)
def _factor_deleted(instance: Authenticator, **_more: Any) -> None:
    _record_factor(instance, added=False)


def _record_factor(factor: Authenticator, *, added: bool) -> None:
    request: Any = context.request
    if request is not None and request.user.is_authenticated:
        actor = actor_of_user(request.user, request.session)
        action = "factor.added" if added else "factor.removed"
        accounts.record_change(factor.user_id, action, actor, factor=str(factor.type))


@receiver(email_added)
def _address_added(email_address: EmailAddress, **_more: Any) -> None:
    _record_address(email_address, "added")


@receiver(email_confirmed)
def _address_confirmed(email_address: EmailAddress, **_more: Any) -> None:
    _record_address(email_address, "confirmed")


@receiver(email_removed)
def _address_removed(email_address: EmailAddress, **_more: Any) -> None:
    _record_address(email_address, "removed")


@receiver(email_changed)
def _primary_address_changed(to_email_address: EmailAddress, **_more: Any) -> None:
    _record_address(to_email_address, "first")


def _record_address(address: EmailAddress, change: str) -> None:
    request: Any = context.request
    is_their_own = request.user == address.user
    # The link in a mail may be opened in another user's session.
    actor = actor_of_user(address.user, request.session if is_their_own else None)
    accounts.record_change(address.user_id, f"address.{change}", actor, email=address.email)


@receiver(user_locked_out)
def _locked_out(username: str, ip_address: str, **_more: Any) -> None:
    """Record each lockout once, however many attempts follow."""
    cache_key = f"locked-out:{sha256(f'{username} {ip_address}'.encode()).hexdigest()}"
    if cache.add(cache_key, True, timeout=_LOCK_SECONDS):
        accounts.record_lockout(login=username, address=ip_address)
