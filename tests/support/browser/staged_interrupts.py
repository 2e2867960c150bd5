"""What staged agents ask: one of each kind that the page of a request can show."""

from typing import Any


def approval(args: dict[str, Any], **also: Any) -> dict[str, Any]:
    """The schema of an approval whose arguments have these schemas; `also` is asked beside it."""
    return {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean"},
            "editedArgs": {"type": "object", "properties": args},
            "reason": {"type": "string"},
            **also,
        },
        "required": ["approved"],
    }


TEXT = {"type": "string"}
REFUND = {
    "message": "Refund 148.00 EUR to Dana Whitfield",
    "tool": "refund_payment",
    "args": {
        "payment": "pay_8821",
        "amount": 148.0,
        "currency": "EUR",
        "note": "Two of the three chairs arrived broken.\nThe customer keeps the third.",
    },
    "schema": approval(
        {
            "payment": TEXT,
            "amount": {"type": "number", "minimum": 0, "maximum": 500},
            "currency": {"type": "string", "enum": ["EUR", "USD", "GBP"]},
            "note": {"type": "string", "description": "The customer reads it."},
        }
    ),
}
MAIL = {
    "message": "Answer Eli about the late delivery",
    "tool": "send_email",
    "args": {
        "to": "eli@example.com",
        "subject": "Your order 4417",
        "body": "Hello Eli,\n\nyour order left the house this morning. It should be with you on "
        "Tuesday.\n\nWe have taken the delivery fee off your invoice.\n\nKind regards\nSupport",
    },
    "schema": approval({"to": TEXT, "subject": TEXT, "body": TEXT}),
    "minutes": 8,
}
LOGIN = {
    "message": "Connect to the customers' database",
    "tool": "connect",
    "args": {"host": "db.example.com", "user": "reports", "password": "correct horse"},
    "schema": approval({"host": TEXT, "user": TEXT, "password": TEXT}),
}
LONG = {
    "message": "Publish the notes of version 4",
    "tool": "publish_post",
    "args": {"title": "Version 4", "body": "What is new, line by line.\n" * 150},
    "schema": approval({"title": TEXT, "body": TEXT}),
}
HIDDEN = {
    "message": "Point the name pay\u200b.example.com to another address",
    "tool": "update_dns",
    "args": {"name": "pay\u200b.example.com", "target": "203.0.113.\u202e7"},
    "schema": approval({"name": TEXT, "target": TEXT}),
    "minutes": 1.5,
}
FIXED = {
    "message": "Delete 12 records that nobody has opened since May",
    "tool": "delete_records",
    "args": {"table": "drafts", "older_than": "2026-05-01", "count": 12},
    "schema": {
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "reason": TEXT},
        "required": ["approved", "reason"],
        "additionalProperties": False,
    },
}
BESIDE = {
    **REFUND,
    "message": "Refund the delivery fee, and say from which budget",
    "args": {"payment": "pay_9003", "amount": 7.9, "currency": "EUR", "note": "Late by a week."},
    "schema": {
        **approval(
            REFUND["schema"]["properties"]["editedArgs"]["properties"],
            budget={"type": "string", "title": "Budget", "enum": ["Service", "Logistics"]},
            blame={"type": "boolean", "title": "Was the carrier at fault?"},
        ),
        "required": ["approved", "budget"],
    },
}
CHARGE = {
    "message": "Charge the card of order 5120",
    "tool": "charge_card",
    "args": {"order": "5120", "amount": 64},
    "schema": approval({"order": TEXT, "amount": {"type": "number"}}),
}
FREE = {"message": "What should I tell the customer about the missing part?", "schema": {}}
TEXT_ANSWER = {
    "message": "Which wording do you want on the invoice?",
    "schema": {"type": "string", "minLength": 3, "maxLength": 400},
}
YES_NO = {"message": "Close 12 tickets without an answer?", "schema": {"type": "boolean"}}
ADDRESS = {
    "type": "object",
    "title": "Address",
    "properties": {
        "street": {"type": "string", "title": "Street", "minLength": 1},
        "city": {"type": "string", "title": "City", "minLength": 1},
        "country": {"type": "string", "title": "Country", "enum": ["DE", "FR", "NL", "PL"]},
    },
    "required": ["street", "city"],
}
FORM = {
    "message": "Complete the supplier before the first order",
    "minutes": 70,
    "schema": {
        "type": "object",
        "title": "New supplier",
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 2},
            "vat": {
                "type": "string",
                "title": "VAT number",
                "pattern": "^[A-Z]{2}[0-9]{8,12}$",
                "description": "Two letters of the country, then the digits.",
            },
            "since": {"type": "string", "title": "Supplier since", "format": "date"},
            "limit": {"type": "number", "title": "Credit limit in EUR", "minimum": 0},
            "reviewed": {"type": "boolean", "title": "Contract reviewed"},
            "address": ADDRESS,
            "payment": {
                "title": "Payment",
                "oneOf": [
                    {
                        "title": "Transfer",
                        "type": "object",
                        "properties": {
                            "kind": {"const": "transfer"},
                            "iban": {"type": "string", "title": "IBAN", "minLength": 15},
                        },
                        "required": ["kind", "iban"],
                    },
                    {
                        "title": "Card",
                        "type": "object",
                        "properties": {
                            "kind": {"const": "card"},
                            "last4": {"type": "string", "title": "Last four digits"},
                        },
                        "required": ["kind", "last4"],
                    },
                ],
            },
            "contacts": {
                "type": "array",
                "title": "Contacts",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "title": "Contact",
                    "properties": {
                        "email": {"type": "string", "title": "E-mail"},
                        "role": {"type": "string", "title": "Role", "enum": ["Sales", "Accounts"]},
                    },
                    "required": ["email"],
                },
            },
            "tags": {
                "type": "array",
                "title": "Tags",
                "items": {"type": "string", "enum": ["Green", "Local", "Large"]},
                "uniqueItems": True,
            },
            "labels": {
                "type": "object",
                "title": "Labels",
                "additionalProperties": {"type": "string"},
            },
        },
        "required": ["name", "vat", "reviewed", "address", "payment", "contacts"],
    },
}
SHORT_FORM = {
    "message": "How many days may the customer wait?",
    "schema": {
        "type": "object",
        "title": "A deadline",
        "properties": {
            "days": {"type": "integer", "title": "Days", "minimum": 1, "maximum": 30},
            "why": {"type": "string", "title": "Why"},
            "urgent": {"type": "boolean", "title": "Urgent"},
        },
        "required": ["days", "urgent"],
    },
}
BARE = {"message": "May I go on?", "reason": "confirmation", "metadata": {"policy": "four eyes"}}
