"""Settings of the embedded and the scaled shape, selected by DATABASE_URL and REDIS_URL."""

import os
import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from email.utils import parseaddr
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from kombu.transport import TRANSPORT_ALIASES

from inbox.platform.deployment.redis_access import (
    CHANNEL_PREFIX,
    KEY_PREFIX,
    QUEUE,
    redis_address,
)
from inbox.platform.deployment.secret_settings import (
    generated_secret,
    read_secret,
    read_secrets,
    split_secrets,
)
from inbox.platform.files.storage import storage_options
from inbox.platform.logs import LOGGING_CONFIGURATION
from inbox.platform.setting_parsers import (
    allauth_settings,
    mail_settings,
    new_vapid_key,
    parse_base_url,
    parse_host_patterns,
    parse_providers,
    parse_vapid_key,
    path_setting,
)
from inbox.rules.limits.team_limits import parse_limits
from inbox.rules.people.passwords import MIN_PASSWORD_CHARACTERS
from inbox.rules.people.team_settings import MAX_THREAD_DAYS

BASE_DIR = Path(__file__).resolve().parents[2]
DATA_DIR = path_setting("SIGNOFF_DATA_DIR", BASE_DIR / "var")
DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
DATABASE_URL = read_secret("DATABASE_URL")
REDIS_URL = redis_address(
    read_secret("REDIS_URL"),
    password=read_secret("SIGNOFF_REDIS_PASSWORD"),
    ca_file=os.environ.get("SIGNOFF_REDIS_CA_FILE", ""),
)
EMBEDDED = not REDIS_URL
# The demo agent counts real executions in a database of its own.
os.environ["SIGNOFF_LEDGER"] = str(
    path_setting("SIGNOFF_LEDGER", DATA_DIR / "rehearsal-ledger.sqlite3")
)

DEBUG = os.environ.get("SIGNOFF_DEBUG") == "1"


# Signs sessions and links. The file may have former keys below, one per line.
_secret_keys = [read_secret("SIGNOFF_SECRET_KEY")]
if not _secret_keys[0]:
    _text = generated_secret(DATA_DIR / "secret-key", lambda: secrets.token_urlsafe(50))
    _secret_keys = [_line.strip() for _line in _text.splitlines() if _line.strip()]
    if len(_secret_keys) == 1 and _text != _secret_keys[0]:
        _secret_keys.append(_text)  # earlier versions took the whole content, with a line feed
SECRET_KEY = _secret_keys[0]
SECRET_KEY_FALLBACKS = [*_secret_keys[1:], *read_secrets("SIGNOFF_SECRET_KEY_FALLBACKS")]
#: The file with the encryption keys of an installation whose database is in the data directory.
ENCRYPTION_KEY_FILE = DATA_DIR / "encryption-keys"
#: Keys of stored secrets: the first encrypts, all decrypt, and then the secret keys do.
ENCRYPTION_KEYS = read_secrets("SIGNOFF_ENCRYPTION_KEYS")
if not ENCRYPTION_KEYS and not DATABASE_URL:
    # Beside the database, because neither is of use without the other.
    ENCRYPTION_KEYS = split_secrets(
        generated_secret(ENCRYPTION_KEY_FILE, lambda: f"{secrets.token_urlsafe(32)}\n")
    )
#: The private key that identifies this installation to push services (RFC 8292), "" without push.
VAPID_KEY = parse_vapid_key(read_secret("SIGNOFF_VAPID_KEY"))
if EMBEDDED and not VAPID_KEY:
    VAPID_KEY = parse_vapid_key(generated_secret(DATA_DIR / "vapid-key", new_vapid_key))
#: Keys of decision signatures: the first signs, all verify. Default: the secret key.
DECISION_KEYS = read_secrets("SIGNOFF_DECISION_KEYS")
#: Names of this machine are always allowed: health checks use them.
ALLOWED_HOSTS = [
    *filter(None, os.environ.get("SIGNOFF_ALLOWED_HOSTS", "").split(",")),
    "localhost",
    "127.0.0.1",
    "[::1]",
]
CSRF_TRUSTED_ORIGINS = [
    origin for origin in os.environ.get("SIGNOFF_TRUSTED_ORIGINS", "").split(",") if origin
]

#: OpenID Connect providers for sign-in.
OIDC_PROVIDERS = parse_providers(read_secret("SIGNOFF_OIDC"))
INSTALLED_APPS = [
    # No admin autodiscovery: inbox.admin registers its own pages.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "lucide",
    "csp",
    "axes",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "inbox",
]
if OIDC_PROVIDERS:  # optional, because they take memory
    INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    # Also for static files, which the next one answers.
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Pads responses against BREACH.
    "inbox.platform.http.compression.Compression",
    "inbox.api.base.database_down.UnavailableMiddleware",
    "inbox.platform.http.session_cookies.SessionCookieMiddleware",
    "inbox.web.base.languages.PageLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Within the one above, which notes the length of the page.
    "inbox.web.base.error_pages.MethodPageMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "inbox.web.people.sessions.SessionActivityMiddleware",
    "inbox.web.base.zones.TimeZoneMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "inbox.config.urls"
ASGI_APPLICATION = "inbox.config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django_htmx.templatetags.django_htmx",
                "inbox.web.base.template_tags",
            ],
        },
    }
]

# -- database ---------------------------------------------------------------------------------
if DATABASE_URL:
    DATABASES: dict[str, Any] = {
        "default": dj_database_url.parse(
            DATABASE_URL, engine="inbox.platform.pooled_database", conn_max_age=0
        )
    }
    if _password := read_secret("SIGNOFF_DATABASE_PASSWORD"):
        if DATABASES["default"]["PASSWORD"]:
            raise ImproperlyConfigured(
                "DATABASE_URL has a password: unset SIGNOFF_DATABASE_PASSWORD."
            )
        DATABASES["default"]["PASSWORD"] = _password
    # Opening a connection costs more than a request; closing one returns it to the pool.
    DATABASES["default"]["OPTIONS"] = {
        # Those of the URL, such as sslmode and sslrootcert.
        **DATABASES["default"].get("OPTIONS", {}),
        # The pool retries with backoff for `reconnect_timeout`, and again on the next request.
        "pool": {"min_size": 2, "max_size": 40, "timeout": 5, "reconnect_timeout": 5},
        # End transactions of a suspended process, which would hold its locks. Transactions of
        # this program are never idle.
        "options": "-c idle_in_transaction_session_timeout=10s",
        # Values are sent apart from the SQL, so that PostgreSQL keeps the plan of a statement after
        # it was executed this often on a connection.
        "server_side_binding": True,
        "prepare_threshold": 3,
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "inbox.platform.embedded.database",
            "NAME": DATA_DIR / "signoff.sqlite3",
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                # A deferred transaction that reads, then writes, often fails with "database is
                # locked".
                "transaction_mode": "IMMEDIATE",
                "timeout": 30,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
            },
            "TEST": {"NAME": str(DATA_DIR / "test.sqlite3")},
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "inbox.User"

# -- wake-ups: workers over Celery, followers over Channels ----------------------------------------
TRANSPORT_ALIASES["embedded"] = "inbox.platform.embedded.broker:Transport"
for _scheme in ("redis", "rediss"):
    TRANSPORT_ALIASES[_scheme] = "inbox.platform.redis_broker:Transport"
CELERY_BROKER_URL = REDIS_URL or "embedded://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {} if EMBEDDED else {"visibility_timeout": 3600, "socket_timeout": 30}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# During a failover Redis answers READONLY or UNBLOCKED: reconnect to the new primary.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = QUEUE
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.05}
CELERY_TASK_STORE_EAGER_RESULT = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
#: Hosts in private networks that remote agents may have (comma-separated).
PRIVATE_AGENT_HOSTS = frozenset(
    filter(None, os.environ.get("SIGNOFF_PRIVATE_AGENT_HOSTS", "").split(","))
)
#: Hosts in private networks that webhooks may be sent to, also without TLS.
PRIVATE_WEBHOOK_HOSTS = frozenset(
    filter(None, os.environ.get("SIGNOFF_PRIVATE_WEBHOOK_HOSTS", "").split(","))
)
#: The public hosts that may be contacted at URLs of people and programs; none for all.
OUTGOING_HOSTS = parse_host_patterns(os.environ.get("SIGNOFF_OUTGOING_HOSTS", ""))
#: The HTTP proxy for remote agents and webhooks outside of private networks.
EGRESS_PROXY = read_secret("SIGNOFF_EGRESS_PROXY")
_proxy = re.fullmatch(r"http://([^@/]*@)?[^@/:\s]+(:\d{1,5})?/?", EGRESS_PROXY)
if EGRESS_PROXY and _proxy is None:
    raise ImproperlyConfigured(
        "SIGNOFF_EGRESS_PROXY must be the URL of an HTTP proxy: http://host:port"
    )
#: Base URL of the site without a trailing slash, for links in webhooks.
PUBLIC_URL = os.environ.get("SIGNOFF_PUBLIC_URL", "").rstrip("/")
#: Domains of the company: pages mark recipients of messages at other domains.
COMPANY_DOMAINS = frozenset(
    domain.strip().lower()
    for domain in os.environ.get("SIGNOFF_COMPANY_DOMAINS", "").split(",")
    if domain.strip()
)

# Slack's Web API, and the URLs to which answers to presses of buttons are posted. A cloud of its
# own, such as GovSlack, has others.
SLACK_API_URL = parse_base_url(
    os.environ.get("SIGNOFF_SLACK_API_URL", ""), "https://slack.com/api/"
)
SLACK_ANSWER_URL = parse_base_url(
    os.environ.get("SIGNOFF_SLACK_ANSWER_URL", ""), "https://hooks.slack.com/"
)
#: Time between the webhook about an expiring request and its expiry.
EXPIRY_NOTICE = timedelta(seconds=float(os.environ.get("SIGNOFF_EXPIRY_NOTICE_SECONDS", "600")))
#: Time limit of one attempt to drive a run, in seconds.
RUN_SECONDS = float(os.environ.get("SIGNOFF_RUN_SECONDS", "3600"))
CELERY_WORKER_CONCURRENCY = int(os.environ.get("SIGNOFF_WORKER_CONCURRENCY", "32"))
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "inbox.platform.embedded.channel_layer.EmbeddedChannelLayer"}
        if EMBEDDED
        else {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                "hosts": [{"address": REDIS_URL, "socket_timeout": 30}],
                "prefix": CHANNEL_PREFIX,
            },
        }
    )
}

# -- the audit trail ------------------------------------------------------------------------------
#: The key that signs checkpoints, for processes without a shared disk.
AUDIT_KEY = read_secret("SIGNOFF_AUDIT_KEY")
AUDIT_KEY_FILE = DATA_DIR / "audit-key"
#: Whether only `serve --signer` signs, so that no other process has the key.
SEPARATE_SIGNER = os.environ.get("SIGNOFF_SEPARATE_SIGNER") == "1"
AUDIT_CHECKPOINTS = path_setting("SIGNOFF_AUDIT_CHECKPOINTS", DATA_DIR / "checkpoints")
#: URLs of further places for checkpoints: file, syslog, git, http or s3 (comma-separated).
AUDIT_SINKS = tuple(
    filter(None, map(str.strip, os.environ.get("SIGNOFF_AUDIT_SINKS", "").split(",")))
)

#: URLs of places for all audit entries: file, syslog+tls, syslog+tcp, http or s3.
AUDIT_ENTRY_SINKS = tuple(
    filter(None, map(str.strip, os.environ.get("SIGNOFF_AUDIT_ENTRY_SINKS", "").split(",")))
)
#: Decisions are refused while a sink lacks entries that are older, in seconds; 0 for no limit.
AUDIT_SINK_MAX_LAG = float(os.environ.get("SIGNOFF_AUDIT_SINK_MAX_LAG") or 0)
if AUDIT_SINK_MAX_LAG and not (AUDIT_ENTRY_SINKS and AUDIT_SINK_MAX_LAG >= 60):
    raise ImproperlyConfigured(
        "SIGNOFF_AUDIT_SINK_MAX_LAG must be 60 or more, and needs SIGNOFF_AUDIT_ENTRY_SINKS."
    )

# -- monitoring -----------------------------------------------------------------------------------
#: A bearer token for `/metrics` of the site and the details of `/readyz`; "" allows neither.
METRICS_TOKEN = read_secret("SIGNOFF_METRICS_TOKEN")
#: The port on HOST for metrics and probes of each process, 0 for none.
METRICS_PORT = int(os.environ.get("SIGNOFF_METRICS_PORT") or 0)
HAS_METRICS = bool(METRICS_TOKEN or METRICS_PORT)
#: Traces need the extra `otel`; OpenTelemetry reads its own variables for the exporter.
HAS_TRACES = bool(
    os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("SIGNOFF_TRACES") == "1"
)
#: The part of traces that is recorded, from 0 to 1.
TRACE_SAMPLING = float(os.environ.get("SIGNOFF_TRACE_SAMPLING") or 0.1)
if not 0 <= TRACE_SAMPLING <= 1:
    raise ImproperlyConfigured("SIGNOFF_TRACE_SAMPLING must be a number from 0 to 1.")

# -- people ---------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
#: For new passwords; those that exist stay.
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": MIN_PASSWORD_CHARACTERS},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "inbox.queries.people.password_validators.ContextValidator"},
    {"NAME": "inbox.queries.people.password_validators.BreachedPasswordValidator"},
]
#: A file of sorted SHA-1 digests of passwords that are known from breaches.
BREACHED_PASSWORDS = os.environ.get("SIGNOFF_BREACHED_PASSWORDS", "")
if BREACHED_PASSWORDS and not Path(BREACHED_PASSWORDS).is_file():
    raise ImproperlyConfigured("SIGNOFF_BREACHED_PASSWORDS must be the path of a file.")
#: Links to a new password end after this time.
PASSWORD_RESET_TIMEOUT = 3600
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "inbox.web.people.sign_in_limits.name_of"
AXES_CLIENT_IP_CALLABLE = "inbox.platform.client_ip.client_ip_of"
AXES_WHITELIST_CALLABLE = "inbox.web.people.sign_in_limits.browser_with_attempts"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
ACCOUNT_ADAPTER = "inbox.web.people.allauth_adapters.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "inbox.web.people.sign_in.SignInForm",
    "reset_password": "inbox.web.people.passwords.PasswordResetForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
# Sign-in needs no verified address; everything else that uses addresses does.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_MAX_EMAIL_ADDRESSES = 5
ACCOUNT_REAUTHENTICATION_REQUIRED = True
#: Sensitive actions need a sign-in or a confirmation of the identity within this time.
REAUTHENTICATION_MINUTES = float(os.environ.get("SIGNOFF_REAUTHENTICATION_MINUTES", "10"))
if REAUTHENTICATION_MINUTES < 1:
    raise ImproperlyConfigured("SIGNOFF_REAUTHENTICATION_MINUTES must be at least 1.")
ACCOUNT_SESSION_REMEMBER = True
# django-axes limits passwords; this limits the codes that are tried for one person.
ACCOUNT_RATE_LIMITS = {
    "login": None,
    "login_failed": "10/5m/key",
    # Nobody can fill the mailbox of somebody else with mails that ask for a confirmation.
    "confirm_email": "1/3m/key,5/d/key",
}
ALLAUTH_TRUSTED_PROXY_COUNT = int(os.environ.get("SIGNOFF_PROXIES", "0"))
SOCIALACCOUNT_ADAPTER = "inbox.web.people.oidc.OidcAdapter"
SOCIALACCOUNT_PROVIDERS = allauth_settings(OIDC_PROVIDERS)
SOCIALACCOUNT_LOGIN_ON_GET = (
    True  # the Content Security Policy allows no form action on another site
)
MFA_ADAPTER = "inbox.web.people.allauth_adapters.FactorAdapter"
MFA_FORMS = {
    "login_webauthn": "inbox.web.people.webauthn.LoginForm",
    "authenticate_webauthn": "inbox.web.people.webauthn.AuthenticateForm",
    "reauthenticate_webauthn": "inbox.web.people.webauthn.ReauthenticateForm",
    "add_webauthn": "inbox.web.people.webauthn.AddForm",
    "edit_webauthn": "inbox.web.people.webauthn.EditForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# There is no sign-up, so second factors do not need a verified address.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_RATE_LIMITS = {"webauthn_login": "30/m/ip"}
MFA_TOTP_ISSUER = "Signoff"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s in both directions, for clock differences
SESSION_ENGINE = "inbox.models.people.sessions"
#: A session ends after this time without a request by its person.
SESSION_IDLE_SECONDS = float(os.environ.get("SIGNOFF_SESSION_IDLE_SECONDS", str(12 * 3600)))
#: A session ends this long after its sign-in, however much it is used.
SESSION_COOKIE_AGE = int(os.environ.get("SIGNOFF_SESSION_SECONDS", str(14 * 24 * 3600)))
SESSION_SERIALIZER = "django.contrib.sessions.serializers.JSONSerializer"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = os.environ.get("SIGNOFF_HTTPS") == "1"
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
# With this prefix browsers take a cookie over https only, and from no other host of the domain.
COOKIE_PREFIX = "__Host-" if SESSION_COOKIE_SECURE else ""
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrftoken"
# Other hosts of the domain, which HSTS could include, may not be ours: the operator says so.
SECURE_HSTS_INCLUDE_SUBDOMAINS = os.environ.get("SIGNOFF_HSTS_SUBDOMAINS") == "1"
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
# Pages require https; health checks from this machine do not.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SESSION_COOKIE_SECURE else 0
SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SESSION_COOKIE_SECURE else None
#: Attempts and used codes, shared by all processes.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    if EMBEDDED
    else {
        "BACKEND": "inbox.platform.shared_cache.SharedCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": KEY_PREFIX,
        "OPTIONS": {"serializer": "inbox.platform.shared_cache.JsonSerializer"},
    }
}

# -- mail -----------------------------------------------------------------------------------------
_mail_url = read_secret("SIGNOFF_EMAIL_URL")
vars().update(mail_settings(_mail_url))
#: Whether mails are sent. If they are only printed, pages show the links.
SENDS_MAIL = bool(_mail_url)
DEFAULT_FROM_EMAIL = os.environ.get("SIGNOFF_EMAIL_FROM", "signoff@localhost")
#: Whom push services contact about problems: a sender of mails, or the site.
VAPID_SUBJECT = (
    PUBLIC_URL
    if PUBLIC_URL.startswith("https://") and not os.environ.get("SIGNOFF_EMAIL_FROM")
    else f"mailto:{parseaddr(DEFAULT_FROM_EMAIL)[1]}"
)

# -- files ----------------------------------------------------------------------------------------
MIB = 1024 * 1024
#: `s3://bucket/prefix` with the extra `s3`; "" for a folder of the data directory.
FILES_URL = os.environ.get("SIGNOFF_FILES_URL", "")
#: Unfinished uploads, previews and, without SIGNOFF_FILES_URL, files.
FILES_DIR = DATA_DIR / "files"
#: Limits of one file, of all files of one request, and of all that is stored for a team.
FILE_BYTES = int(os.environ.get("SIGNOFF_FILE_BYTES", str(100 * MIB)))
REQUEST_FILE_BYTES = int(os.environ.get("SIGNOFF_REQUEST_FILE_BYTES", str(250 * MIB)))
TEAM_FILE_BYTES = int(os.environ.get("SIGNOFF_TEAM_FILE_BYTES", str(10 * 1024 * MIB)))
#: Uploads are refused while the disk has less free space, which the database needs.
FREE_DISK_BYTES = int(os.environ.get("SIGNOFF_FREE_DISK_BYTES", str(256 * MIB)))
#: How long the link to a file works that an agent or a client gets.
FILE_LINK_SECONDS = int(os.environ.get("SIGNOFF_FILE_LINK_SECONDS", "3600"))
#: Days without activity after which threads of teams without a setting are deleted; 0: never.
THREAD_DAYS = int(os.environ.get("SIGNOFF_THREAD_DAYS") or "0")
if not 0 <= THREAD_DAYS <= MAX_THREAD_DAYS:  # -1 would delete all of them
    raise ImproperlyConfigured(f"SIGNOFF_THREAD_DAYS must be from 0 to {MAX_THREAD_DAYS}.")
FILE_UPLOAD_HANDLERS = ["inbox.platform.files.received_files.FileReceiver"]

# -- pages ----------------------------------------------------------------------------------------
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
#: Each language has its own name for itself. `make texts` lists missing translations.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "inbox.platform.formats"
LANGUAGE_COOKIE_NAME = f"{COOKIE_PREFIX}django_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = SESSION_COOKIE_SECURE
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# `manage.py serve` collects static files there, compressed and named by their content.
#: The user names of the demo who may sign in without a password from this machine. Set by
#: `serve --demo` only, never from the environment.
DEMO_PEOPLE: Sequence[str] = ()
#: Whether the exceptions of agents are stored and shown with their runs in all teams. Set by
#: `serve --demo` on this machine only, never from the environment: their texts may have secrets.
SHOWS_AGENT_ERRORS = False
STATIC_ROOT = path_setting("SIGNOFF_STATIC_ROOT", DATA_DIR / "static")
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STORAGES = {
    "files": storage_options(FILES_URL, FILES_DIR),
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "inbox.platform.http.static_files.StaticFiles"
        )
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "worker-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# Two forms of 300 fields on one page, with their hidden fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_500

#: Rate limits of a person or API key, and of an address without authentication; "" is unlimited.
RATE_LIMIT = os.environ.get("SIGNOFF_RATE_LIMIT", "6000/minute")
RATE_LIMIT_ANONYMOUS = os.environ.get("SIGNOFF_RATE_LIMIT_ANONYMOUS", "300/minute")
#: Limits of teams that have none of their own: `queued_runs=500, threads=0`; 0 is no limit.
try:
    TEAM_LIMITS = parse_limits(os.environ.get("SIGNOFF_LIMITS", ""))
except ValueError as error:
    raise ImproperlyConfigured(
        f"SIGNOFF_LIMITS must be names and numbers, like queued_runs=500: {error}"
    ) from error
#: An agent that asks beyond its own limits more often than this is paused; "" is never.
PAUSE_AGENTS_AFTER = os.environ.get("SIGNOFF_PAUSE_AGENTS_AFTER", "100/10minutes")
#: Open streams and AG-UI sockets of a person or API key in one process.
STREAMS_PER_CALLER = int(os.environ.get("SIGNOFF_STREAMS_PER_CALLER", "500"))
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["inbox.api.base.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": ["inbox.api.base.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["inbox.platform.http.json_renderer.AnyValueJSONRenderer"],
    "EXCEPTION_HANDLER": "inbox.api.base.error_responses.to_response",
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Signoff",
    "DESCRIPTION": "The approval inbox for AI agents: runs pause, people decide, and one resume "
    "continues.",
    "VERSION": "0.1.0",
    "LICENSE": {
        "name": "Apache-2.0",
        "url": "https://www.apache.org/licenses/LICENSE-2.0",
    },
    "SERVERS": [{"url": PUBLIC_URL or "/", "description": "This installation"}],
    "PREPROCESSING_HOOKS": ["inbox.api.base.openapi.add_functions"],
    "WEBHOOKS": "inbox.api.webhooks.webhook_messages.WEBHOOKS",
    # Without drf-spectacular's own hook, which renames enumerations.
    "POSTPROCESSING_HOOKS": [
        "inbox.api.base.openapi.add_webhook_components",
        "inbox.api.base.openapi.complete_webhooks",
        "inbox.api.base.openapi.list_tags",
        "inbox.api.base.openapi.add_examples",
        "inbox.api.base.openapi.share_error_responses",
    ],
    # The models of PATCH declare what may be left out.
    "COMPONENT_SPLIT_PATCH": False,
    "APPEND_COMPONENTS": {
        "securitySchemes": {
            "key": {"type": "http", "scheme": "bearer", "description": "An API key of a team."},
            "session": {
                "type": "apiKey",
                "in": "cookie",
                "name": SESSION_COOKIE_NAME,
                "description": "The session of a signed-in person. Unsafe methods need the "
                f"value of the cookie `{CSRF_COOKIE_NAME}` in the header `X-CSRFToken`.",
            },
            "signature": {
                "type": "apiKey",
                "in": "header",
                "name": "webhook-signature",
                "description": "Of webhooks: the signature of Standard Webhooks over the headers "
                "`webhook-id` and `webhook-timestamp`, and the body.",
            },
        }
    },
}

LOGGING_CONFIG = None
LOGGING_CONFIGURATION.apply()
