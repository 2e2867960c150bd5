from django.db import migrations, models
import django.db.models.deletion


def delete_accounts(apps, schema_editor):
    """Delete what has no team, or may be there for several: people connect their accounts again."""
    for name in ("ChatLinkCode", "ChatIdentity"):
        apps.get_model("inbox", name).objects.all().delete()
    if schema_editor.connection.vendor == "postgresql":
        # Foreign keys are checked at the commit, and such a table cannot be changed before.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _team():
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="inbox.team"
    )


def _one_per_account(name, *fields):
    return models.UniqueConstraint(fields=(*fields, "workspace", "external_id"), name=name)


class Migration(migrations.Migration):

    dependencies = [
        ("inbox", "0072_chat_accounts"),
    ]

    operations = [
        migrations.RunPython(delete_accounts, migrations.RunPython.noop),
        migrations.RemoveConstraint("chatidentity", "one_user_per_chat_account"),
        migrations.RemoveConstraint("chatlinkcode", "one_code_per_chat_account"),
        migrations.AddField("chatidentity", "team", _team()),
        migrations.AddField("chatlinkcode", "team", _team()),
        migrations.AddConstraint(
            "chatidentity", _one_per_account("one_user_per_chat_account", "team")
        ),
        migrations.AddConstraint(
            "chatlinkcode", _one_per_account("one_code_per_chat_account", "team")
        ),
        migrations.RunPython(migrations.RunPython.noop, delete_accounts),
    ]
