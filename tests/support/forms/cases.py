"""Every case whose value must come back untouched, or be refused on arrival."""

from tests.support.forms.case import FIRST, Case
from tests.support.forms.pydantic_cases import PYDANTIC
from tests.support.forms.schema_shape_cases import SHAPES
from tests.support.forms.text_cases import TEXTS
from tests.support.forms.tool_cases import TOOLS

CASES = [*FIRST, *PYDANTIC, *TOOLS, *SHAPES, *TEXTS]
USABLE = [case for case in CASES if not case.refused]
REFUSED = [case for case in CASES if case.refused]

__all__ = ["CASES", "REFUSED", "USABLE", "Case"]
