"""Every stored secret is encrypted with the newest key, and nothing else changes."""

import ast
import re
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.apps import apps
from django.conf import settings as live_settings
from django.core.management import CommandError, call_command
from django.db import models
from django.test import Client

from inbox.actions import stored_secrets
from inbox.actions.agents.external_agents import set_external_agent
from inbox.actions.agents.remote_agents import set_remote_agent
from inbox.actions.notifications.team_channels import ChatSettings, add_chat
from inbox.actions.people.invitations import invite
from inbox.actions.stored_secrets import count_secrets, encrypted_columns, rotate_secrets
from inbox.actions.webhooks.endpoints import add_webhook, rotate_secret
from inbox.models import AuditEntry, WebhookEndpoint
from inbox.models.fields import EncryptedTextField
from inbox.platform import encryption
from inbox.rules.people.access import OPERATOR, SEED, Role
from tests.support.requests.programs import APPROVED, decide, program

__all__ = ["program"]

SECRET_KEY, OLD, NEW = (
    f"{name} key of more than 32 characters" for name in ("signing", "old", "new")
)
PREFIX = "https://ci.example.com/signoff"
SEED_OF_BOB = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PASSWORD = {"username": "bob", "password": "bob-password"}
#: Modules that encrypt, with the columns that they write to. A new one needs a column of the type
#: EncryptedTextField, and a row in the fixture `everything`.
WRITERS = {
    "inbox/actions/agents/remote_agents.py": {"Endpoint.headers"},
    "inbox/actions/notifications/push_channels.py": {"Channel.address"},
    "inbox/actions/notifications/team_channels.py": {"Channel.address"},
    "inbox/actions/people/invitations.py": {"Invitation.link"},
    "inbox/actions/requests/callbacks.py": {"AgentRequest.callback", "Delivery.url"},
    "inbox/actions/webhooks/endpoints.py": {
        "WebhookEndpoint.secret",
        "WebhookEndpoint.former_secret",
    },
    "inbox/web/people/allauth_adapters.py": {"Authenticator.data"},
    # A form that waits in the session for up to 15 minutes; sessions are encrypted as a whole.
    "inbox/web/base/step_up.py": set(),
}
#: Kinds besides the columns of the type EncryptedTextField.
OTHERS = {"mfa_authenticator.data", "django_session.session_data"}


@pytest.fixture
def old_keys(settings):
    """An installation with the old key only."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = SECRET_KEY, []
    settings.ENCRYPTION_KEYS = [OLD]


@pytest.fixture
def everything(old_keys, world, program, bob, settings):
    """One row of every kind of stored secret, made by actions under the old key."""
    settings.SENDS_MAIL = True
    team = world.team.pk
    endpoint, _ = add_webhook(
        team_id=team, url="https://hooks.example/", event_types=["run.finished"], actor=SEED
    )
    rotate_secret(endpoint_id=endpoint.pk, actor=SEED)
    set_remote_agent(
        team_id=team,
        slug="refunds",
        url="https://agents.example/",
        headers={"Authorization": "Bearer kept-to-ourselves"},
        actor=SEED,
    )
    invite(
        team_id=team,
        email="nora@example.com",
        role=Role.VIEWER,
        actor=SEED,
        site="https://s.example",
    )
    add_chat(
        team_id=team,
        kind="discord",
        values=ChatSettings(
            label="#ops",
            url="https://discord.example/api/webhooks/1/secret",
            events=["opened"],
            mode="at_once",
            minutes=5,
        ),
        language="en",
        actor=SEED,
    )
    set_external_agent(team_id=team, slug="ci", actor=SEED, callback_prefixes=[PREFIX])
    decide(program.ask(callback_url=f"{PREFIX}/done"), bob, APPROVED)
    client = Client()
    assert client.post("/login/", PASSWORD).status_code == 302
    TOTP.activate(world.bob, SEED_OF_BOB)
    RecoveryCodes.activate(world.bob)
    return client


def add_new_key(settings):
    settings.ENCRYPTION_KEYS = [NEW, OLD]


def contents():
    """Return what the encrypted columns say, as texts."""
    return sorted(
        str(encryption.decrypt(text))
        for model, column in encrypted_columns()
        for text in model.objects.exclude(**{column: ""}).values_list(column, flat=True)
    )


def kinds(counts):
    return {kind for kind, _, _ in counts}


def texts_in_database():
    """Return each text that has the form of an encrypted value, with its table and column."""
    columns = set()
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.CharField | models.TextField | models.JSONField):
                for value in model._default_manager.values_list(field.name, flat=True):
                    if re.search(r"gAAAA[\w-]{40}", str(value)):
                        columns.add(f"{model._meta.db_table}.{field.name}")
    return columns


# -- nothing is left out --------------------------------------------------------------------------


def test_every_encrypted_text_in_the_database_is_rotated(everything):
    expected = {f"{model._meta.db_table}.{column}" for model, column in encrypted_columns()}

    assert kinds(count_secrets()) == expected | OTHERS
    assert texts_in_database() == expected | OTHERS - {"django_session.session_data"}


def test_columns_that_say_encrypted_have_the_type_that_is_rotated():
    columns = [
        field
        for model in apps.get_app_config("inbox").get_models()
        for field in model._meta.concrete_fields
        if "encrypted" in str(field.help_text)
    ]

    assert len(columns) == len(encrypted_columns())
    assert all(isinstance(field, EncryptedTextField) for field in columns)


def test_every_module_that_encrypts_is_known():
    root = Path(live_settings.BASE_DIR)
    modules = {
        str(path.relative_to(root))
        for path in (root / "inbox").rglob("*.py")
        if path.name not in ("encryption.py", "stored_secrets.py") and _calls_encrypt(path)
    }

    assert modules == set(WRITERS)
    named = {f"{model.__name__}.{column}" for model, column in encrypted_columns()}
    assert set.union(*WRITERS.values()) == named | {"Authenticator.data"}


def _calls_encrypt(path):
    return any(
        isinstance(node, ast.Call)
        and (
            getattr(node.func, "id", "") == "encrypt" or getattr(node.func, "attr", "") == "encrypt"
        )
        for node in ast.walk(ast.parse(path.read_text()))
    )


# -- rotation -------------------------------------------------------------------------------------


def test_rotated_secrets_are_read_without_the_old_key(everything, settings):
    before = contents()
    add_new_key(settings)

    rotate_secrets(actor=OPERATOR)

    settings.ENCRYPTION_KEYS = [NEW]
    assert contents() == before
    assert TOTP(Authenticator.objects.get(type="totp")).instance.data["secret"]
    codes = RecoveryCodes(Authenticator.objects.get(type="recovery_codes"))
    assert len(codes.get_unused_codes()) == 10


def test_rotation_is_idempotent_and_audited_once(everything, settings):
    add_new_key(settings)

    first, second = rotate_secrets(actor=OPERATOR), rotate_secrets(actor=OPERATOR)

    # One of each column, the secret of the callbacks, and two second factors.
    assert (first, second) == (len(encrypted_columns()) + 3, 0)
    (entry,) = AuditEntry.objects.filter(action="installation.secrets_rotated")
    detail = entry.content["detail"]
    assert detail["key"] == encryption.configured_keys()[0].id
    assert sum(row["count"] for row in detail["secrets"]) == first


def test_secrets_of_the_former_single_key_are_rotated(everything, settings):
    """Before keys had ids, SECRET_KEY encrypted and values began with the token."""
    cipher = encryption.session_keys()[0].cipher
    WebhookEndpoint.objects.filter(agent=None).update(
        secret=cipher.encrypt(b'"whsec_old"').decode()
    )
    add_new_key(settings)

    rotate_secrets(actor=OPERATOR)

    secret = WebhookEndpoint.objects.get(agent=None).secret
    assert secret.startswith(f"{encryption.configured_keys()[0].id}:")
    assert encryption.decrypt(secret) == "whsec_old"


def test_unreadable_secrets_stay_as_they_are(everything, settings):
    settings.ENCRYPTION_KEYS = [NEW]
    before = WebhookEndpoint.objects.get(agent=None).secret

    assert rotate_secrets(actor=OPERATOR) == 0

    assert WebhookEndpoint.objects.get(agent=None).secret == before
    assert ("inbox_webhookendpoint.secret", "unreadable", False) in count_secrets()


def test_a_secret_that_changed_meanwhile_is_not_overwritten(everything, settings):
    add_new_key(settings)
    outdated = [secret for secret in stored_secrets.stored_secrets() if not secret.is_current]
    WebhookEndpoint.objects.update(secret=encryption.encrypt("whsec_new"))

    for secret in outdated:
        secret.renew()

    assert encryption.decrypt(WebhookEndpoint.objects.get(agent=None).secret) == "whsec_new"


def test_a_recovery_code_that_was_used_stays_used(everything, world, settings):
    add_new_key(settings)
    outdated = [secret for secret in stored_secrets.stored_secrets() if not secret.is_current]
    codes = RecoveryCodes.activate(world.bob)
    assert codes.validate_code(codes.get_unused_codes()[0])

    for secret in outdated:
        secret.renew()

    assert len(RecoveryCodes.activate(world.bob).get_unused_codes()) == 9


def test_sessions_outlive_the_former_secret_key(everything, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = f"{NEW} of sessions", [SECRET_KEY]

    rotate_secrets(actor=OPERATOR)

    settings.SECRET_KEY_FALLBACKS = []
    assert everything.get("/account/").status_code == 200


def test_sessions_end_without_rotation_and_former_key(everything, settings):
    settings.SECRET_KEY = f"{NEW} of sessions"

    assert everything.get("/account/").status_code == 302


def test_rotation_reads_in_batches(everything, settings, monkeypatch):
    add_new_key(settings)
    monkeypatch.setattr(stored_secrets, "BATCH", 1)
    for number in range(3):
        add_webhook(
            team_id=WebhookEndpoint.objects.first().team_id,
            url=f"https://hooks.example/{number}",
            event_types=["run.finished"],
            actor=SEED,
        )
    WebhookEndpoint.objects.update(
        secret=encryption.session_keys()[0].cipher.encrypt(b'"x"').decode()
    )

    assert (
        count_secrets()["inbox_webhookendpoint.secret", encryption.session_keys()[0].id, False] == 5
    )


# -- the command ----------------------------------------------------------------------------------


def test_dry_run_counts_and_changes_nothing(everything, settings, capsys):
    add_new_key(settings)
    old, secret = encryption.configured_keys()[1].id, WebhookEndpoint.objects.get(agent=None).secret

    call_command("rotate_secrets", "--dry-run")

    assert f"inbox_webhookendpoint.secret: {old}, old" in capsys.readouterr().out
    assert WebhookEndpoint.objects.get(agent=None).secret == secret
    assert not AuditEntry.objects.filter(action="installation.secrets_rotated").exists()


def test_command_says_which_key_is_not_needed_any_more(everything, settings, capsys):
    add_new_key(settings)

    call_command("rotate_secrets")

    new, old, _ = encryption.configured_keys()
    lines = capsys.readouterr().out.splitlines()
    assert f"Key {old.id}, SIGNOFF_ENCRYPTION_KEYS 2: not needed any more, remove it." in lines
    assert any(line.startswith(f"Key {new.id}, SIGNOFF_ENCRYPTION_KEYS: in use") for line in lines)


def test_key_that_verifies_decisions_moves_to_their_setting(everything, settings, capsys):
    settings.DECISION_KEYS = []
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = f"{NEW} of sessions", [SECRET_KEY]

    call_command("rotate_secrets")

    assert "1 decisions are verified with it. Move it" in capsys.readouterr().out


def test_command_fails_while_secrets_are_unreadable(everything, settings):
    settings.ENCRYPTION_KEYS = [NEW]

    with pytest.raises(CommandError, match="do not depend on the newest key"):
        call_command("rotate_secrets")


def test_new_key_is_put_first_in_the_file(old_keys, db, settings, tmp_path, capsys):
    settings.DATABASE_URL = ""
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-keys"
    settings.ENCRYPTION_KEY_FILE.write_text(f"{OLD}\n")

    call_command("rotate_secrets", "--new-key")

    new, old = settings.ENCRYPTION_KEY_FILE.read_text().split("\n", 1)
    assert (len(new), old) == (43, f"{OLD}\n")
    assert settings.ENCRYPTION_KEY_FILE.stat().st_mode & 0o777 == 0o600
    assert new not in capsys.readouterr().out


def test_new_key_is_printed_where_the_environment_has_the_keys(db, settings, tmp_path, capsys):
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-keys"

    call_command("rotate_secrets", "--new-key")

    assert len(capsys.readouterr().out.strip()) == 43
    assert not settings.ENCRYPTION_KEY_FILE.exists()
