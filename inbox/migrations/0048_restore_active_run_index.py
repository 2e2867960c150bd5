"""
Create the index of the constraint `one_active_run_per_thread` again, where it is missing.

On PostgreSQL the migration 0014 dropped it: when an AlterField removes the index of a foreign key,
Django drops each index of that single column, also one of a conditional UniqueConstraint.
"""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('inbox', '0047_state_constraints'),
    ]

    operations = [
        migrations.RunSQL(
            "CREATE UNIQUE INDEX IF NOT EXISTS one_active_run_per_thread "
            "ON inbox_run (thread_id) WHERE status IN ('queued', 'running')",
            migrations.RunSQL.noop,
        ),
    ]
