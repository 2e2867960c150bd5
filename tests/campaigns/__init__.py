"""
Fault campaigns: the whole scaled product under kills, restarts and identical requests.

`python -m tests.campaigns` runs the long forms, `--short` the forms that CI runs.
"""
