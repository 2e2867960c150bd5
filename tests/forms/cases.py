"""Every case whose value must come back untouched, or be refused on arrival."""

from tests.forms.families.first import FIRST, Case
from tests.forms.families.pydantic_models import PYDANTIC
from tests.forms.families.shapes import SHAPES
from tests.forms.families.texts import TEXTS
from tests.forms.families.tools import TOOLS

CASES = [*FIRST, *PYDANTIC, *TOOLS, *SHAPES, *TEXTS]
USABLE = [case for case in CASES if not case.refused]
REFUSED = [case for case in CASES if case.refused]

__all__ = ["CASES", "REFUSED", "USABLE", "Case"]
