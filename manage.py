#!/usr/bin/env python3
"""Django's command line."""

import os
import sys


def main() -> None:
    os.umask(0o077)  # the database, its journal and the keys are for their owner alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inbox.config.settings")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
