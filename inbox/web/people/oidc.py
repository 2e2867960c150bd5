"""Sign-in at an OpenID Connect provider, and its link to local accounts."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import jwt
import structlog
from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.account.signals import authentication_step_completed
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2View
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.dispatch import receiver
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from requests import RequestException

from inbox.actions.people.accept_invitation import join_by_provider
from inbox.platform import clock
from inbox.queries.people.accounts import user_by_verified_email
from inbox.rules.errors import InvalidValue, NotFound
from inbox.rules.people.access import Role
from inbox.rules.people.auth_methods import check_provider_sign_in, provider_step
from inbox.web.base.translate import translate

if TYPE_CHECKING:
    from inbox.models import User


log = structlog.get_logger(__name__)

_UNKNOWN: Final = gettext_noop(
    "No account is linked to this sign-in. Ask your team's admin for an invitation."
)
_FAILED: Final = gettext_noop("Signing in with the provider failed. Try again.")
#: Signatures by the key of a provider; django-allauth takes the one that a token names.
_ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
#: Reasons in the log; addresses of people are not written there.
_NOT_IN_DOMAINS: Final = "the domain of the address is not in domains"
_NOT_INVITED: Final = "nobody has this address, and the provider has no team for it"
#: What the user info may add to an ID token.
_USER_INFO: Final = ("email", "email_verified", "name")
#: Exceptions that an invalid or missing response of a provider can raise.
_PROVIDER_ERRORS: Final = (
    *(RequestException, OAuth2Error, jwt.PyJWTError),
    *(AttributeError, LookupError, TypeError, ValueError),
)


class Provider(OpenIDConnectOAuth2Adapter):
    @property
    def openid_config(self) -> Any:
        """
        Return the metadata of the provider.

        django-allauth takes the issuer from it, so another provider's would be believed.

        Raises:
            ValueError: it names another issuer than the setting.
        """
        config = super().openid_config
        issuer = self.get_provider().app.settings["server_url"]  # type: ignore[no-untyped-call]
        if str(config["issuer"]).rstrip("/") != issuer:
            raise ValueError(f"{self.provider_id}: the metadata has another issuer")
        return config

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> Any:
        """
        Verify the ID token, and fetch what it does not say about the e-mail address.

        django-allauth does not verify the signature, and does not compare the subject of the
        user info with that of the token.
        """
        config = self.openid_config
        algorithm = jwt.get_unverified_header(kwargs["response"]["id_token"])["alg"]
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"{self.provider_id}: an ID token is signed with {algorithm}")
        claims = jwtkit.verify_and_decode(
            credential=kwargs["response"]["id_token"],
            keys_url=config["jwks_uri"],
            issuer=config["issuer"],
            audience=app.client_id,
            lookup_kid=jwtkit.lookup_kid_jwk,
        )
        if not {"email", "email_verified"} <= set(claims) and "userinfo_endpoint" in config:
            # How and when the person signed in is in the signed token only.
            claims |= self._email_claims(claims, token.token)
        provider: Any = self.get_provider()  # type: ignore[no-untyped-call]
        return provider.sociallogin_from_response(request, {"id_token": claims})

    def _email_claims(self, claims: dict[str, Any], access_token: str) -> dict[str, Any]:
        """Return what the user info adds; whether an address is verified is about its own."""
        try:
            more: dict[str, Any] = self._fetch_user_info(access_token)
        except _PROVIDER_ERRORS:
            if "email" not in claims:
                raise
            # People who are linked already need no address.
            log.warning("no user info of a provider", provider=self.provider_id, exc_info=True)
            return {}
        if more.get("sub") != claims["sub"]:
            return {}
        names = _USER_INFO if "email" in more else ("name",)
        return {name: more[name] for name in names if name in more}


class OidcAdapter(DefaultSocialAccountAdapter):
    def generate_state_param(self, state: dict[str, Any]) -> str:
        """Return 256 random bits; django-allauth's state has 95."""
        return secrets.token_urlsafe(32)

    def on_authentication_error(self, request: HttpRequest, *_args: Any, **_more: Any) -> None:
        raise ImmediateHttpResponse(_redirect(request, gettext(_FAILED)))

    def send_notification_mail(self, *_args: Any, **_more: Any) -> None:
        """Send no mail about a sign-in that the user has just made."""

    def pre_social_login(self, request: Any, sociallogin: Any) -> None:
        claims = sociallogin.account.extra_data["id_token"]
        request.provider_step = _checked_step(request, sociallogin, claims)
        if sociallogin.is_existing:
            return
        user = _user_for_claims(sociallogin.account.provider, claims)
        if user is None:
            raise ImmediateHttpResponse(_redirect(request, gettext(_UNKNOWN)))
        sociallogin.connect(request, user)


def _checked_step(request: HttpRequest, sociallogin: Any, claims: dict[str, Any]) -> dict[str, Any]:
    """Return what the session records of the claims; redirect unless they are good enough."""
    provider, now = _provider(sociallogin.account.provider), clock.now()
    not_before = None
    if (asked_at := sociallogin.state.get("asked_at")) is not None:
        not_before = datetime.fromtimestamp(asked_at, UTC)
    elif "max_age" in provider:
        not_before = now - timedelta(seconds=provider["max_age"])
    acr_values = provider.get("acr_values", [])
    try:
        check_provider_sign_in(claims, acr_values=acr_values, not_before=not_before)
    except InvalidValue as error:
        seen = {name: str(claims.get(name))[:100] for name in ("acr", "amr", "auth_time")}
        log.warning("sign-in of a provider refused", provider=provider["id"], **seen)
        raise ImmediateHttpResponse(_redirect(request, translate(error.message))) from error
    return provider_step(claims, acr_values=acr_values, now=now)


@receiver(authentication_step_completed)
def _record_claims(request: Any, method: str, **_more: Any) -> None:
    """Add what the token says to the step of the session: django-allauth has no hook for it."""
    if method == "socialaccount":
        request.session[AUTHENTICATION_METHODS_SESSION_KEY][-1].update(request.provider_step)
        request.session.modified = True


def _provider(provider_id: str) -> dict[str, Any]:
    return next(entry for entry in settings.OIDC_PROVIDERS if entry["id"] == provider_id)


def _user_for_claims(provider_id: str, claims: dict[str, Any]) -> User | None:
    """Return the user with the verified address, a new one if they may join, or None."""
    provider = _provider(provider_id)
    user, reason = None, _distrust(provider, claims)
    if not reason:
        email = str(claims["email"]).lower()
        domain = email.rpartition("@")[2]
        is_of_provider = domain in provider.get("domains", [domain])
        user = user_by_verified_email(email)
        if user is None:
            user = _join(
                provider, email, claims, provider.get("team", "") if is_of_provider else ""
            )
            reason = _NOT_INVITED
        elif not is_of_provider:
            # One provider must not vouch for addresses that another one has.
            user, reason = None, _NOT_IN_DOMAINS
    if user is None:
        log.warning("sign-in of a provider refused", provider=provider_id, reason=reason)
    return user


def _join(provider: dict[str, Any], email: str, claims: dict[str, Any], team: str) -> User | None:
    try:
        return join_by_provider(
            email=email,
            full_name=str(claims.get("name", "")),
            provider_id=provider["id"],
            team_slug=team,
            role=Role(provider.get("role", "viewer")),
        )
    except NotFound:
        log.warning("provider names no team", provider=provider["id"], team=team)
        return None
    except IntegrityError:
        # A concurrent request created the account, probably from another tab.
        return user_by_verified_email(email)


def _distrust(provider: dict[str, Any], claims: dict[str, Any]) -> str:
    """Return why the address in the claims is not taken as verified, or nothing."""
    email = str(claims.get("email") or "").lower()
    if not email:
        return "no email in the ID token and the user info"
    if "email_verified" in claims:
        # Some providers send the string "true"; the string "false" is truthy.
        is_verified = claims["email_verified"] in (True, "true")
        return "" if is_verified else "email_verified is not true"
    if not provider.get("trusts_email"):
        return "no email_verified; see trusts_email of SIGNOFF_OIDC"
    return "" if email.rpartition("@")[2] in provider["domains"] else _NOT_IN_DOMAINS


def start_sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Redirect to the provider; cross-site requests are rejected (login CSRF)."""
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return HttpResponseRedirect(reverse("account_login"))
    return _run_view(_Start, request, provider_id)


class _Start(OAuth2View):
    def dispatch(self, request: HttpRequest) -> HttpResponse:
        provider: Any = self.adapter.get_provider()  # type: ignore[no-untyped-call]
        entry = _provider(provider.app.provider_id)
        query, state = {}, {}
        if "acr_values" in entry:
            query["acr_values"] = " ".join(entry["acr_values"])
        if "max_age" in entry:
            query["max_age"] = str(entry["max_age"])
        if "again" in request.GET:  # to confirm an identity: the provider's session is not enough
            # With `max_age`, providers have to say in `auth_time` when somebody signed in.
            query |= {"prompt": "login", "max_age": "0"}
            state["asked_at"] = clock.now().timestamp()
        response: HttpResponse = provider.redirect(
            request,
            process=AuthProcess.LOGIN,
            next_url=get_next_redirect_url(request),
            auth_params=query,
            **state,  # in the session until the callback
        )
        return response


def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Handle the provider's callback."""
    return _run_view(OAuth2CallbackView, request, provider_id)


def _run_view(view: Any, request: HttpRequest, provider_id: str) -> HttpResponse:
    if provider_id not in {entry["id"] for entry in settings.OIDC_PROVIDERS}:
        raise Http404()
    try:
        response: HttpResponse = view.adapter_view(Provider(request, provider_id))(request)
    except _PROVIDER_ERRORS:
        return _redirect(request, gettext(_FAILED))
    return response


def _redirect(request: HttpRequest, text: str) -> HttpResponse:
    messages.error(request, text)
    return HttpResponseRedirect(reverse("account_login"))
