"""Forms for JSON Schemas: planned, rendered and read on the server; nothing is ever invented."""

from inbox.forms.form import Form, build_form
from inbox.forms.nodes import Problem, Reading
from inbox.forms.shapes import members_of, root_of
from inbox.forms.values import ABSENT
from inbox.forms.wording import asked_elsewhere

__all__ = [
    "ABSENT",
    "Form",
    "Problem",
    "Reading",
    "asked_elsewhere",
    "build_form",
    "members_of",
    "root_of",
]
