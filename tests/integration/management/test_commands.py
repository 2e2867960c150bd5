"""The commands of administrators."""

from io import StringIO
from urllib.parse import urlsplit

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.test import Client

from inbox.models import AuditEntry, Membership, User
from inbox.queries.people.api_keys import actor_of_key
from tests.support.children import StartFailed
from tests.support.processes import embedded_environment, manage
from tests.support.steps import reread, start


def run(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


def test_a_key_is_printed_alone_and_works(world):
    token = run("create_api_key", "--name", "ci", "--team", "tests", "--scope", "run")

    actor = actor_of_key(token)
    assert (actor.label, actor.team_id, set(actor.scopes)) == ("key ci", world.team.pk, {"run"})


def test_a_key_for_a_team_that_is_not_there_is_refused_with_a_way_out(world):
    with pytest.raises(CommandError, match="create_member"):
        run("create_api_key", "--name", "ci", "--team", "nobody", "--scope", "run")


def test_a_command_is_refused_while_a_key_is_too_short(tmp_path):
    environment = embedded_environment(tmp_path, SIGNOFF_ENCRYPTION_KEYS="short")

    with pytest.raises(StartFailed, match=r"signoff\.E010"):
        manage(environment, "audit_key")


_EVE = ("create_member", "--username", "eve", "--team", "new", "--role", "admin")
_WORDS = "correct horse battery staple"


def choose_password(client, link, password=_WORDS):
    """Open the link and send a password, as a browser does; return whether it counted."""
    path = urlsplit(link).path
    form = client.get(path, follow=True)
    if not form.redirect_chain:
        return False
    answer = {"password1": password, "password2": password}
    return client.post(form.redirect_chain[-1][0], answer).status_code == 302


def test_a_member_gets_a_link_to_a_password_a_team_and_an_agent(db, client):
    link = run(*_EVE, "--rehearsal")

    assert urlsplit(link).path.startswith("/password/")
    user = User.objects.get(username="eve")
    assert not user.has_usable_password()
    assert choose_password(client, link)
    assert reread(user).check_password(_WORDS)
    assert Membership.objects.get(user=user).team.agents.get().slug == "rehearsal"
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {
        "team.created",
        "agent.added",
        "member.added",
    }


def test_the_link_of_a_member_counts_once(db, client):
    link = run(*_EVE)
    assert choose_password(client, link)

    assert not choose_password(Client(), link, "another horse battery")
    assert User.objects.get(username="eve").check_password(_WORDS)


def test_a_member_who_has_not_used_the_link_gets_another_one(db, client):
    run(*_EVE)
    assert choose_password(client, run(*_EVE))

    with pytest.raises(CommandError, match="already"):
        run(*_EVE)


def test_a_username_is_taken_once(world):
    with pytest.raises(CommandError, match="already"):
        run("create_member", "--username", "bob", "--team", "tests", "--role", "viewer")


def test_a_team_gets_its_grace_period(world):
    run("set_grace", "tests", "30")

    world.team.refresh_from_db()
    assert world.team.grace_seconds == 30


@pytest.mark.parametrize("arguments", [("nobody", "30"), ("tests", "3601")])
def test_a_grace_period_that_cannot_be_is_refused(world, arguments):
    with pytest.raises(CommandError):
        run("set_grace", *arguments)


def test_a_team_is_given_an_agent_by_its_name(world):
    assert run("add_agent", "refund-desk", "--team", "tests") == "/agui/refund-desk/"

    assert set(world.team.agents.values_list("slug", flat=True)) == {"rehearsal", "refund-desk"}


@pytest.mark.parametrize("own", ["", "nowhere:nobody", "json:nobody"])
def test_an_agent_that_is_not_there_is_refused(world, monkeypatch, own):
    monkeypatch.setenv("SIGNOFF_AGENTS", own)

    with pytest.raises(CommandError):
        run("add_agent", "nobody", "--team", "tests")


def test_second_factors_are_reset_with_an_audit_entry(world, client):
    client.force_login(world.bob)
    Authenticator.objects.create(user=world.bob, type="totp", data={})
    Authenticator.objects.create(user=world.bob, type="recovery_codes", data={})

    assert run("reset_second_factor", "bob") == "Second factors removed: 2."
    assert run("reset_second_factor", "bob") == "Second factors removed: 0."

    assert not Authenticator.objects.exists()
    (entry,) = AuditEntry.objects.filter(action="factors.reset")
    assert (entry.team, entry.content["detail"]["username"]) == (world.team, "bob")
    assert entry.content["detail"]["factors"] == ["totp", "recovery_codes"]


def test_second_factors_of_nobody_are_not_reset(world):
    with pytest.raises(CommandError, match="No user has the name or e-mail address 'dana'"):
        run("reset_second_factor", "dana")


def test_a_thread_is_erased_from_the_trail_with_its_reason(world):
    thread = start(world, "rehearse:echo").thread

    assert run("erase_thread", str(thread.pk), "--reason", "asked for").startswith("Entries erased")

    last = thread.audit.order_by("pk").last()
    assert (last.action, last.content["detail"]["reason"]) == ("audit.erased", "asked for")
    with pytest.raises(CommandError):
        run("erase_thread", str(world.team.pk), "--reason", "asked for")
