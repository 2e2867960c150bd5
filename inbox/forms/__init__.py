"""Forms for JSON Schemas: planned, rendered and read on the server; nothing is ever invented."""

from inbox.forms.form import Form, build_form
from inbox.forms.nodes import Problem, Reading
from inbox.forms.values import ABSENT

__all__ = ["ABSENT", "Form", "Problem", "Reading", "build_form"]
