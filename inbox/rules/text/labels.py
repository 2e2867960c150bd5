"""Labels for the names of members: `unit_price` and `unitPrice` become "Unit price"."""

import re

from inbox.rules.text.safe_text import escape_invisible

_MAX_NAME_CHARACTERS = 60
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Words that are written otherwise than other words, by their lower case.
_ACRONYMS = {
    word.lower(): word
    for word in (
        *("AI", "API", "ASN", "AWS", "BCC", "BIC", "CC", "CI", "CIDR", "CLI", "CPU", "CSS", "CSV"),
        *("DB", "DNS", "EUR", "GB", "GBP", "GCP", "HTML", "HTTP", "HTTPS", "IBAN", "ID", "IP"),
        *("IPv4", "IPv6", "JSON", "MB", "OS", "PDF", "PIN", "PR", "RAM", "REST", "SHA", "SKU"),
        *("SMS", "SQL", "SSH", "SSL", "SWIFT", "TLS", "TTL", "UI", "URI", "URL", "USD", "UTC"),
        *("UUID", "VAT", "VM", "VPN", "XML", "YAML"),
    )
}


def separate_words(name: str, by: str = " ") -> str:
    """Return a name in camel case with a separator between its words."""
    return _WORD_BOUNDARY.sub(by, name)


def label_of(name: str) -> str:
    """Return a label for the name of a member; names that are no words stay as they are."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or len(name) > _MAX_NAME_CHARACTERS:
        return escape_invisible(name) or "(empty name)"
    words = separate_words(name).replace("_", " ").split()
    if any(word.isupper() and len(word) > 1 for word in words):
        return escape_invisible(name)
    text = " ".join(_ACRONYMS.get(word.lower(), word.lower()) for word in words)
    return text[:1].upper() + text[1:]
