#!/usr/bin/env python3
"""Django's command line."""

import os
import sys


def main() -> None:
    os.umask(0o077)  # the database, its journal and the keys are for their owner alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    from inbox.platform.deployment.connection_errors import DatabaseUnreachable  # noqa: PLC0415

    try:
        execute_from_command_line(sys.argv)
    except DatabaseUnreachable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
