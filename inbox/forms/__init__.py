"""Forms for JSON Schemas, planned, rendered and read on the server."""

from inbox.forms.form import Form, build_form
from inbox.forms.form_nodes import FormResult, Problem
from inbox.forms.labels import must_leave_out
from inbox.forms.schema_resolver import flatten_schema, member_names
from inbox.forms.values import ABSENT

__all__ = [
    "ABSENT",
    "Form",
    "FormResult",
    "Problem",
    "build_form",
    "flatten_schema",
    "member_names",
    "must_leave_out",
]
