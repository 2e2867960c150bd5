"""What `model_json_schema()` of pydantic 2 makes of the models of tools."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, TypeAdapter, constr

from tests.support.forms.case import Case


class Priority(StrEnum):
    LOW = "low"
    HIGH = "high"


class Level(IntEnum):
    ONE = 1
    TWO = 2


class Address(BaseModel):
    street: str
    postcode: Annotated[str, Field(pattern=r"^\d{4,5}$")] | None = None


class Email(BaseModel):
    """Send an e-mail."""

    to: list[str] = Field(min_length=1)
    cc: list[str] = []
    subject: str = Field(max_length=120)
    body: str
    reply_to: str | None = None
    priority: Priority = Priority.LOW
    urgent: bool = False


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = Field(9, ge=0, le=9)


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    others: list[Cat | Dog] = []


class Payment(BaseModel):
    model_config = ConfigDict(extra="forbid")
    amount: Decimal = Field(gt=0, decimal_places=2)
    at: datetime
    on: date
    hour: time
    wait: timedelta
    reference: UUID
    link: AnyUrl
    iban: constr(pattern=r"^[A-Z]{2}", min_length=4)  # type: ignore[valid-type]


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    anything: Any
    mapping: dict[str, int]
    either: int | str
    pair: tuple[int, str]
    some: set[Literal["a", "b", "c"]]
    level: Level
    blob: bytes = b""


class Nested(BaseModel):
    address: Address
    backup: Address | None = None
    by_name: dict[str, Address] = {}


def case(name, model, value):
    schema = model.json_schema() if isinstance(model, TypeAdapter) else model.model_json_schema()
    return Case(f"pydantic: {name}", schema, value)


EMAIL = {"to": ["a@x.example"], "subject": "Hi", "body": "Dear A,\n\nbye\n"}
PAYMENT = {
    "amount": "12.50",
    "at": "2025-11-21T09:30:00Z",
    "on": "2025-11-21",
    "hour": "09:30:00",
    "wait": "PT30M",
    "reference": "7f9c24e8-3b12-4fef-91e0-5ad1d4f2cd6b",
    "link": " https://x.example/?a=1&b=2 ",
    "iban": "DE02",
}
LOOSE = {
    "anything": {"a": [1, None, {"b": True}]},
    "mapping": {"one": 1, "": 2, "a b": 3},
    "either": "7",
    "pair": [1, "x"],
    "some": ["c", "a"],
    "level": 2,
    "more": "kept",
    "other": {"deep": [[]]},
}

PYDANTIC = [
    case("an e-mail", Email, EMAIL),
    case("an e-mail in full", Email, {**EMAIL, "cc": [], "reply_to": None, "urgent": True}),
    case("an enum by default", Email, {**EMAIL, "priority": "high", "reply_to": ""}),
    case("an enum value nobody offers", Email, {**EMAIL, "priority": "medium"}),
    case("a discriminated union", Owner, {"pet": {"kind": "dog", "name": "Rex"}}),
    case("a union told apart by its default", Owner, {"pet": {"kind": "cat"}}),
    case("a list of unions", Owner, {"pet": {"kind": "cat"}, "others": [{"name": "B"}, {}]}),
    case("money and moments", Payment, PAYMENT),
    case("money as a number", Payment, {**PAYMENT, "amount": 12.5}),
    case("a moment with seconds", Payment, {**PAYMENT, "at": "2025-11-21T09:30:15Z"}),
    case("a moment that is none", Payment, {**PAYMENT, "at": "tomorrow", "on": "2025-02-30"}),
    case("a tree", Tree, {"label": "a", "children": [{"label": "b", "children": []}]}),
    case("loose types", Loose, LOOSE),
    case("a number in a union", Loose, {**LOOSE, "either": 7}),
    case("nested models", Nested, {"address": {"street": "A"}, "by_name": {"x": {"street": "B"}}}),
    case(
        "an explicit null", Nested, {"address": {"street": "A", "postcode": None}, "backup": None}
    ),
    case("a bare list", TypeAdapter(list[int]), [3, 2, 1]),
    case("a bare optional", TypeAdapter(int | None), None),
    case("a bare literal", TypeAdapter(Literal["yes", "no"]), "no"),
]
