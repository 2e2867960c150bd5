"""`python -m signoff_client` is the command `signoff`."""

import sys

from signoff_client.cli.commands import main

sys.exit(main())
