"""Add directories, which provision people and groups over SCIM."""

import django.db.models.deletion
import uuid6
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0108_audit_outlives_threads'),
    ]

    operations = [
        migrations.CreateModel(
            name='Directory',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('prefix', models.CharField(help_text='first characters of the token', max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('networks', models.JSONField(default=list, help_text='CIDR ranges of the clients that may use the token; empty: all')),
                ('links_accounts', models.BooleanField(help_text='people with the same confirmed address are taken over by the directory')),
                ('created_by', models.CharField(help_text='as in the audit trail', max_length=160)),
                ('created_at', models.DateTimeField()),
                ('replaced_at', models.DateTimeField(help_text='when it got its present token', null=True)),
                ('expires_at', models.DateTimeField(help_text='null: it does not expire', null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(help_text='accurate to a minute', null=True)),
                ('last_refused_at', models.DateTimeField(null=True)),
            ],
            options={'verbose_name_plural': 'directories'},
        ),
        migrations.CreateModel(
            name='DirectoryGroup',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('display_name', models.CharField(max_length=255)),
                ('external_id', models.CharField(blank=True, max_length=255)),
                ('role', models.CharField(blank=True, choices=[('viewer', 'Viewer'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], max_length=10)),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('directory', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='groups', to='inbox.directory')),
                ('team', models.ForeignKey(blank=True, help_text='empty: the group gives nothing', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team')),
            ],
        ),
        migrations.CreateModel(
            name='DirectoryUser',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('is_linked', models.BooleanField(help_text='the account was there before the directory')),
                ('external_id', models.CharField(blank=True, max_length=255)),
                ('user_name', models.CharField(max_length=150)),
                ('user_name_key', models.CharField(help_text='as names are compared', max_length=450, unique=True)),
                ('is_active', models.BooleanField(help_text='as the directory said last')),
                ('profile', models.JSONField(help_text='displayName, name and emails, as in SCIM')),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('directory', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='people', to='inbox.directory')),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='directory_user', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='DirectoryGroupMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='inbox.directorygroup')),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='inbox.directoryuser')),
            ],
        ),
        migrations.AddConstraint(
            model_name='directorygroup',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('role', ''), ('team', None)), models.Q(('team__isnull', False), models.Q(('role', ''), _negated=True)), _connector='OR'), name='groups_give_team_and_role', violation_error_message='Choose a team and a role, or neither.'),
        ),
        migrations.AddIndex(
            model_name='directoryuser',
            index=models.Index(fields=['directory', 'external_id'], name='people_by_external_id'),
        ),
        migrations.AddConstraint(
            model_name='directorygroupmember',
            constraint=models.UniqueConstraint(fields=('group', 'person'), name='once_in_a_directory_group'),
        ),
    ]
