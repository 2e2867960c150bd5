"""
All tables in one step, in place of the migrations 0001 to 0046.

Django cannot have a squash replace another one: `migrate` records this one where those were applied.
"""

import django.contrib.auth.models
import django.contrib.auth.validators
import django.db.models.deletion
import django.utils.timezone
import uuid6
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(unique=True)),
                ('implementation', models.CharField(help_text='name in agents.registry', max_length=80)),
                ('description', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='AuditBlock',
            fields=[
                ('number', models.BigIntegerField(help_text='of the block, from 0', primary_key=True, serialize=False)),
                ('root', models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='AuditCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='null before the first verification', null=True)),
                ('whole_at', models.DateTimeField(help_text='last time of all entries', null=True)),
                ('not_before', models.DateTimeField(help_text='no process verifies earlier')),
                ('verdict', models.CharField(blank=True, max_length=10)),
                ('findings', models.TextField(default='[]', help_text='JSON: where, and what the problem is')),
                ('reached', models.BigIntegerField(default=0, help_text='number of verified entries')),
                ('checkpoint', models.TextField(default='{}', help_text='JSON: size, time and root')),
                ('key_name', models.CharField(blank=True, max_length=200)),
                ('is_outside', models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name='AuditCheckpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('size', models.BigIntegerField(help_text='number of entries in the log', unique=True)),
                ('frontier', models.TextField(help_text='hashes that the next checkpoint extends; not trusted')),
                ('note', models.TextField()),
                ('newest_entry', models.BigIntegerField(help_text='largest id of these entries')),
                ('at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.UUIDField()),
                ('seq', models.BigIntegerField(help_text='position in the chain, from 1')),
                ('body', models.TextField()),
                ('hash', models.CharField(max_length=64)),
                ('action', models.CharField(max_length=40)),
                ('actor_kind', models.CharField(max_length=10)),
                ('actor_id', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
                ('erases_from', models.BigIntegerField(null=True)),
                ('erases_to', models.BigIntegerField(null=True)),
            ],
            options={
                'verbose_name_plural': 'audit entries',
            },
        ),
        migrations.CreateModel(
            name='AuditSink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=500, unique=True)),
                ('size', models.BigIntegerField(default=0, help_text='of the last checkpoint it received')),
                ('problem', models.CharField(blank=True, help_text='error of the last attempt', max_length=200)),
                ('tried_at', models.DateTimeField(null=True)),
                ('not_before', models.DateTimeField(help_text='no other process sends earlier', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('key_digest', models.CharField(help_text='of the actor and the key', max_length=64, unique=True)),
                ('request_digest', models.CharField(max_length=64)),
                ('made', models.UUIDField(help_text='of the created object')),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'abstract': False,
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('former_digest', models.CharField(max_length=64, null=True, unique=True)),
                ('former_until', models.DateTimeField(null=True)),
                ('scopes', models.JSONField(help_text='sorted')),
                ('made_by', models.CharField(blank=True, help_text='as in the audit trail', max_length=160)),
                ('created_at', models.DateTimeField()),
                ('rotated_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(help_text='null: it does not expire', null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('last_used_at', models.DateTimeField(help_text='accurate to a minute', null=True)),
                ('last_refused_at', models.DateTimeField(help_text='with an ended token', null=True)),
                ('agent', models.ForeignKey(help_text="an agent's own key", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='inbox.agent')),
            ],
        ),
        migrations.CreateModel(
            name='AuditPayload',
            fields=[
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='payload', serialize=False, to='inbox.auditentry')),
                ('salt', models.CharField(help_text='32 random bytes in hex', max_length=64)),
                ('text', models.TextField(help_text='canonical JSON text')),
            ],
        ),
        migrations.CreateModel(
            name='AuditLeaf',
            fields=[
                ('position', models.BigIntegerField(primary_key=True, serialize=False)),
                ('entry', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='leaf', to='inbox.auditentry')),
            ],
        ),
        migrations.CreateModel(
            name='Interrupt',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('interrupt_id', models.CharField(max_length=200)),
                ('position', models.IntegerField(help_text='position in the outcome, from 0')),
                ('reason', models.CharField(max_length=100)),
                ('tool', models.CharField(blank=True, help_text="name of the call's tool", max_length=200)),
                ('shape', models.CharField(blank=True, help_text='equal if similar', max_length=64)),
                ('search_text', models.TextField(help_text='searched text, casefolded')),
                ('title', models.CharField(help_text='derived from the call, or set by the team', max_length=300)),
                ('message', models.CharField(blank=True, default='', help_text="the agent's message, for lists", max_length=300)),
                ('args', models.TextField(help_text='of the call at creation', null=True)),
                ('body', models.TextField()),
                ('view_digest', models.CharField(help_text='digest of the interrupt as created', max_length=64)),
                ('view_version', models.PositiveSmallIntegerField(default=2, help_text='version of the formula of view_digest')),
                ('endpoint_digest', models.CharField(blank=True, help_text='of the remote endpoint; blank for local agents', max_length=64)),
                ('status', models.CharField(choices=[('open', 'Open'), ('resolved', 'Resolved'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], default='open', max_length=10)),
                ('expires_at', models.DateTimeField(null=True)),
                ('due_at', models.DateTimeField(help_text='expires_at, or NEVER; orders the pending list')),
                ('created_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(null=True)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent')),
                ('decided_by', models.ForeignKey(db_index=False, help_text='author of the decision; not meaningful while open', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('repeats', models.ForeignKey(help_text='an earlier interrupt whose answer could not be used', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='repeated_by', to='inbox.interrupt')),
            ],
        ),
        migrations.AddField(
            model_name='auditentry',
            name='interrupt',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit', to='inbox.interrupt'),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('message_id', models.UUIDField(default=uuid6.uuid7, editable=False, unique=True)),
                ('type', models.CharField(max_length=40)),
                ('body', models.TextField(help_text='JSON text that is signed and sent')),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('delivered', 'Delivered'), ('failed', 'Failed')], default='pending', max_length=10)),
                ('by_hand', models.BooleanField(default=False)),
                ('tries', models.PositiveSmallIntegerField(default=0, help_text='failures since it was queued')),
                ('next_try_at', models.DateTimeField()),
                ('fence', models.IntegerField(default=0, help_text='incremented by each claim of a worker')),
                ('lease_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('delivered_at', models.DateTimeField(null=True)),
                ('interrupt', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.interrupt')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
            },
        ),
        migrations.CreateModel(
            name='DeliveryAttempt',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('status_code', models.PositiveSmallIntegerField(null=True)),
                ('problem', models.CharField(blank=True, max_length=200)),
                ('answer', models.TextField(blank=True)),
                ('milliseconds', models.PositiveIntegerField()),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='inbox.delivery')),
            ],
        ),
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('url', models.CharField(max_length=2000)),
                ('revision', models.PositiveIntegerField(default=1, help_text='incremented when the URL changes')),
                ('headers', models.TextField(help_text='encrypted JSON object of names and values')),
                ('changed_at', models.DateTimeField()),
                ('tested_at', models.DateTimeField(help_text='null after a change', null=True)),
                ('test', models.TextField(help_text='JSON report of the last test (agents.adapters.remote.probe_report)', null=True)),
                ('agent', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='endpoint', to='inbox.agent')),
            ],
        ),
        migrations.CreateModel(
            name='RefusalCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about', models.UUIDField(help_text='id of the interrupt, run, thread or agent')),
                ('actor', models.CharField(help_text='inbox.rules.people.access.actor_key', max_length=80)),
                ('tried', models.CharField(max_length=20)),
                ('code', models.CharField(max_length=40)),
                ('count', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('about', 'actor', 'tried', 'code'), name='one_count_per_refusal')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(help_text='AG-UI runId; not unique', max_length=200)),
                ('parent_external_id', models.CharField(blank=True, max_length=200)),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('interrupted', 'Interrupted'), ('succeeded', 'Succeeded'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=12)),
                ('resume_at', models.DateTimeField(help_text='end of the grace period of an interrupted run', null=True)),
                ('input', models.TextField()),
                ('resume', models.TextField(default='[]')),
                ('checkpoint', models.TextField(default='null')),
                ('first_seq', models.BigIntegerField(help_text='lower bound of the seq of its events')),
                ('fence', models.IntegerField(default=0, help_text='incremented by each claim of a worker')),
                ('attempt', models.IntegerField(default=0)),
                ('lease_until', models.DateTimeField(null=True)),
                ('error_code', models.CharField(blank=True, max_length=40)),
                ('started_by', models.CharField(max_length=160)),
                ('idempotency_key', models.CharField(help_text='sha256, per caller', max_length=64, null=True)),
                ('request_digest', models.CharField(blank=True, max_length=64)),
                ('queued_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent')),
                ('requester_key', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.apikey')),
                ('requester_user', models.ForeignKey(db_index=False, help_text='copied to resumes and retries', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('resumes', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='resumed_by', to='inbox.run')),
                ('retries', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='retried_by', to='inbox.run')),
            ],
        ),
        migrations.AddField(
            model_name='interrupt',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='interrupts', to='inbox.run'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='run',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.run'),
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=80)),
                ('grace_seconds', models.PositiveSmallIntegerField(default=0, help_text='delay between the last answer and the resume of the run')),
                ('execute_within_hours', models.PositiveIntegerField(default=24, help_text='approved calls that have not started by then lapse')),
                ('request_expiry_hours', models.PositiveIntegerField(default=168, help_text='for interrupts without an expiry of their own; 0: they do not expire')),
                ('names_deciders', models.BooleanField(default=False, help_text='remote agents receive the names of the deciders')),
                ('requires_view_digest', models.BooleanField(default=False, help_text='AG-UI clients must send the digest of the displayed view')),
                ('inbox_only', models.BooleanField(default=False, help_text='only pages of the inbox may answer interrupts')),
                ('headings', models.JSONField(default=dict, help_text='tool name or kind -> heading of the request, with arguments in braces')),
                ('audit_days', models.PositiveIntegerField(help_text='days until names and texts in the audit trail are erased; null: never', null=True)),
                ('audit_erased_to', models.BigIntegerField(default=0, help_text='id of the last audit entry that was old enough')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('grace_seconds__lte', 3600)), name='grace_of_an_hour'), models.CheckConstraint(condition=models.Q(('request_expiry_hours__lte', 87600)), name='expiry_of_ten_years')],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AddField(
            model_name='interrupt',
            name='team',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='team',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team'),
        ),
        migrations.AddField(
            model_name='apikey',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_keys', to='inbox.team'),
        ),
        migrations.AddField(
            model_name='agent',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='inbox.team'),
        ),
        migrations.CreateModel(
            name='Thread',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('external_id', models.CharField(help_text='AG-UI threadId', max_length=200)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('next_seq', models.BigIntegerField(default=1)),
                ('messages', models.TextField(default='[]')),
                ('state', models.TextField(default='null')),
                ('client_messages', models.TextField(db_default='{}', help_text='JSON text: message id -> fingerprint, for messages that clients sent')),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team')),
            ],
        ),
        migrations.AddField(
            model_name='run',
            name='thread',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='inbox.thread'),
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('body', models.TextField()),
                ('thread', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='memory', to='inbox.thread')),
            ],
        ),
        migrations.AddField(
            model_name='interrupt',
            name='thread',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='interrupts', to='inbox.thread'),
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('type', models.CharField(max_length=40)),
                ('body', models.TextField(help_text='JSON text that every client receives')),
                ('from_agent', models.BooleanField(help_text='false for events of the engine')),
                ('at', models.DateTimeField()),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='inbox.run')),
                ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='inbox.thread')),
            ],
        ),
        migrations.AddField(
            model_name='delivery',
            name='thread',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.thread'),
        ),
        migrations.CreateModel(
            name='DeliveredOutcome',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('actor', models.CharField(help_text='inbox.rules.people.access.actor_key', max_length=80)),
                ('interrupt_ids', models.JSONField(help_text='AG-UI ids of the delivered interrupts')),
                ('at', models.DateTimeField()),
                ('run', models.ForeignKey(help_text='the interrupted run', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inbox.run')),
                ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='inbox.thread')),
            ],
        ),
        migrations.AddField(
            model_name='auditentry',
            name='thread',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='audit', to='inbox.thread'),
        ),
        migrations.CreateModel(
            name='ToolCall',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('tool_call_id', models.CharField(max_length=200)),
                ('name', models.CharField(max_length=200)),
                ('args', models.TextField()),
                ('args_written', models.TextField(help_text='`args` as the agent wrote them, if that differs from the canonical text', null=True)),
                ('edited_args', models.TextField(null=True)),
                ('effect', models.CharField(blank=True, max_length=10)),
                ('state', models.CharField(choices=[('proposed', 'Proposed'), ('started', 'Started'), ('settled', 'Settled'), ('in_doubt', 'In doubt'), ('not_run', 'Not run'), ('lapsed', 'Lapsed')], default='proposed', max_length=10)),
                ('verdict', models.CharField(blank=True, choices=[('approved', 'Approved'), ('edited', 'Edited'), ('denied', 'Denied'), ('answered', 'Answered'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], max_length=10)),
                ('decided_by', models.CharField(blank=True, max_length=64)),
                ('result', models.TextField(null=True)),
                ('proposed_at', models.DateTimeField()),
                ('started_at', models.DateTimeField(null=True)),
                ('settled_at', models.DateTimeField(null=True)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.agent')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='inbox.run')),
                ('team', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team')),
                ('thread', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tool_calls', to='inbox.thread')),
            ],
        ),
        migrations.AddField(
            model_name='interrupt',
            name='tool_call',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='interrupts', to='inbox.toolcall'),
        ),
        migrations.AddField(
            model_name='auditentry',
            name='tool_call',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.toolcall'),
        ),
        migrations.CreateModel(
            name='Unmasking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('view_digest', models.CharField(max_length=64)),
                ('what', models.CharField(help_text='name in inbox.queries.decisions.masked_values', max_length=20)),
                ('at', models.DateTimeField()),
                ('interrupt', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.interrupt')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('url', models.CharField(max_length=2000)),
                ('description', models.CharField(blank=True, max_length=200)),
                ('event_types', models.JSONField()),
                ('secret', models.TextField(help_text='encrypted')),
                ('former_secret', models.TextField(blank=True, help_text='encrypted; also signs until `former_until`')),
                ('former_until', models.DateTimeField(null=True)),
                ('disabled_at', models.DateTimeField(null=True)),
                ('disabled_reason', models.CharField(blank=True, choices=[('by_hand', 'By hand'), ('gone', 'Gone'), ('failing', 'Failing')], max_length=10)),
                ('failures', models.PositiveIntegerField(default=0, help_text='consecutive failures')),
                ('failing_since', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('removed_at', models.DateTimeField(null=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='webhooks', to='inbox.team')),
            ],
        ),
        migrations.AddField(
            model_name='delivery',
            name='endpoint',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='inbox.webhookendpoint'),
        ),
        migrations.CreateModel(
            name='Claim',
            fields=[
                ('interrupt', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='claim', serialize=False, to='inbox.interrupt')),
                ('claimed_at', models.DateTimeField()),
                ('until', models.DateTimeField()),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('text', models.CharField(max_length=4000)),
                ('created_at', models.DateTimeField()),
                ('interrupt', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='inbox.interrupt')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['interrupt', 'id'], name='comments_in_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='comment_says_something')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('resolved', 'Resolved'), ('cancelled', 'Cancelled')], max_length=10)),
                ('payload', models.TextField(help_text='canonical JSON text that the agent receives', null=True)),
                ('metadata', models.TextField(help_text='JSON text of the metadata that the client sent for the agent', null=True)),
                ('payload_written', models.TextField(help_text='`payload` as the client wrote it, if it differs', null=True)),
                ('call_before', models.TextField(help_text='JSON text of the tool call before this decision changed it', null=True)),
                ('view_digest', models.CharField(blank=True, help_text='of the displayed view', max_length=64)),
                ('entrance', models.CharField(blank=True, help_text='rules.decisions.gate.Entrance; blank in old rows', max_length=20)),
                ('client_run_id', models.CharField(blank=True, help_text='runId of the AG-UI request with the decision', max_length=200)),
                ('unseen', models.BooleanField(default=False, help_text='explicitly approved without seeing the masked values')),
                ('actor_kind', models.CharField(max_length=10)),
                ('actor_label', models.CharField(max_length=160)),
                ('created_at', models.DateTimeField()),
                ('args_digest', models.CharField(blank=True, help_text='of the arguments that this decision allows', max_length=64)),
                ('signature', models.CharField(blank=True, help_text='inbox.rules.decisions.signatures; blank once withdrawn', max_length=120)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('api_key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.apikey')),
                ('interrupt', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to='inbox.interrupt')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('interrupt',), name='one_standing_decision')],
            },
        ),
        migrations.CreateModel(
            name='Sighting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('view_digest', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
                ('interrupt', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.interrupt')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('interrupt', 'user', 'view_digest'), name='one_sighting_per_view')],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60)),
                ('query', models.TextField(help_text='URL query string, validated at each use')),
                ('created_at', models.DateTimeField()),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(help_text='the team that also sees it', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='inbox.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='one_view_per_name')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], max_length=10)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='inbox.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'team'), name='one_membership_per_team')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid6.uuid7, editable=False, primary_key=True, serialize=False)),
                ('email', models.CharField(help_text='in lower case', max_length=254)),
                ('role', models.CharField(choices=[('viewer', 'Viewer'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], max_length=10)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('mail', models.CharField(choices=[('none', 'None'), ('sending', 'Sending'), ('sent', 'Sent'), ('failed', 'Failed')], help_text='none: the link was displayed, so it does not prove the address', max_length=10)),
                ('invited_by', models.CharField(help_text='name of the actor in the audit trail', max_length=160)),
                ('created_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(help_text='time of the current link')),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='inbox.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('accepted_at', None), ('withdrawn_at', None)), fields=('team', 'email'), name='one_open_invitation_per_address')],
            },
        ),
        migrations.AddConstraint(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('agent', None), ('scopes', ['read']), ('scopes', ['run']), ('scopes', ['read', 'run']), _connector='OR'), name='keys_of_agents_never_decide'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['team', '-updated_at'], name='threads_of_a_team'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['team', 'id'], name='threads_by_time'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['agent', 'id'], name='threads_of_agent'),
        ),
        migrations.AddConstraint(
            model_name='thread',
            constraint=models.UniqueConstraint(fields=('agent', 'external_id'), name='one_thread_per_address'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['team', 'id'], name='runs_of_a_team'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['team', 'status', 'id'], name='runs_by_status'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['agent', 'id'], name='runs_of_agent'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['thread', 'id'], name='runs_of_thread'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('status', 'queued')), fields=['queued_at'], name='queued_runs'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('status', 'running')), fields=['lease_until'], name='running_runs'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('resume_at__isnull', False)), fields=['resume_at'], name='resumes_by_time'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ('queued', 'running'))), fields=('thread',), name='one_active_run_per_thread'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('idempotency_key',), name='one_run_per_idempotency_key'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['run', 'seq'], name='events_of_a_run'),
        ),
        migrations.AddConstraint(
            model_name='event',
            constraint=models.UniqueConstraint(fields=('thread', 'seq'), name='one_event_per_seq'),
        ),
        migrations.AddConstraint(
            model_name='deliveredoutcome',
            constraint=models.UniqueConstraint(fields=('thread', 'actor'), name='one_delivered_outcome_per_actor'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'id', 'name', 'verdict'], name='calls_by_day'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['agent', 'id'], name='calls_of_agent'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'name', 'id'], name='calls_of_tool'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'verdict', 'id'], name='calls_by_verdict'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['team', 'decided_by', 'id'], name='calls_by_person'),
        ),
        migrations.AddIndex(
            model_name='toolcall',
            index=models.Index(fields=['tool_call_id'], name='calls_by_wire_id'),
        ),
        migrations.AddConstraint(
            model_name='toolcall',
            constraint=models.UniqueConstraint(fields=('thread', 'tool_call_id'), name='one_tool_call_per_id'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'due_at', 'id'], name='pending_by_expiry'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'status', 'id'], name='pending_by_time'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'agent', 'due_at', 'id'], name='pending_of_agent'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'tool', 'due_at', 'id'], name='pending_of_tool'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'reason', 'due_at', 'id'], name='pending_of_reason'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['team', 'shape', 'due_at', 'id'], name='pending_of_shape'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open')), fields=['expires_at'], name='open_by_expiry'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'closed_at', 'id'], name='decided_by_time'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'status', 'closed_at', 'id'], name='decided_by_status'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'agent', 'closed_at', 'id'], name='decided_of_agent'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'tool', 'closed_at', 'id'], name='decided_of_tool'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'reason', 'closed_at', 'id'], name='decided_of_reason'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(condition=models.Q(('status', 'open'), _negated=True), fields=['team', 'decided_by', 'closed_at', 'id'], name='decided_by_person'),
        ),
        migrations.AddIndex(
            model_name='interrupt',
            index=models.Index(fields=['team', 'id'], name='asked_of_a_team'),
        ),
        migrations.AddConstraint(
            model_name='interrupt',
            constraint=models.UniqueConstraint(fields=('thread', 'interrupt_id'), name='one_interrupt_per_id'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['team', '-id'], name='audit_of_a_team'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['team', 'action', '-id'], name='audit_by_action'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(fields=['team', 'actor_kind', 'actor_id', '-id'], name='audit_by_actor'),
        ),
        migrations.AddIndex(
            model_name='auditentry',
            index=models.Index(condition=models.Q(('erases_from__isnull', False)), fields=['chain', 'erases_from'], name='audit_erasures'),
        ),
        migrations.AddConstraint(
            model_name='auditentry',
            constraint=models.UniqueConstraint(fields=('chain', 'seq'), name='one_entry_per_place'),
        ),
        migrations.AddConstraint(
            model_name='unmasking',
            constraint=models.UniqueConstraint(fields=('interrupt', 'user', 'view_digest', 'what'), name='one_unmasking_per_view'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'next_try_at'], name='deliveries_by_time'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'pending')), fields=['endpoint', 'thread', 'id'], name='deliveries_in_order'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['endpoint', '-id'], name='deliveries_of_endpoint'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['endpoint', 'id'], name='deliveries_given_up'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('status', 'pending'), _negated=True), fields=['next_try_at'], name='deliveries_by_age'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(condition=models.Q(('type', 'interrupt.expiring')), fields=('interrupt', 'endpoint'), name='one_warning_per_interrupt'),
        ),
        migrations.AddIndex(
            model_name='claim',
            index=models.Index(fields=['user', 'until'], name='claims_of_a_person'),
        ),
    ]
