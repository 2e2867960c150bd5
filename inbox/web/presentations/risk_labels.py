"""Words for the risk and the step of a request, marked as those of an author outside."""

from django.utils.translation import gettext, gettext_noop

from inbox.rules.presentations.vocabulary import Author, Severity

_SEVERITIES: dict[str, str] = {
    Severity.LOW: gettext_noop("Low risk"),
    Severity.MEDIUM: gettext_noop("Medium risk"),
    Severity.HIGH: gettext_noop("High risk"),
    Severity.CRITICAL: gettext_noop("Critical risk"),
}

_TONES = {
    Severity.CRITICAL: "bad",
    Severity.HIGH: "bad",
    Severity.MEDIUM: "warn",
    Severity.LOW: "line",
}


def severity_tone(severity: Severity | None) -> str:
    """Return the colour of a severity; that of a low risk for none."""
    return _TONES[severity or Severity.LOW]


def severity_label(severity: str, author: Author) -> str:
    """Return the name of a severity, "" for an unknown one."""
    if severity not in _SEVERITIES:
        return ""
    return with_author(gettext(_SEVERITIES[severity]), author)


def reversibility_label(is_reversible: bool | None, author: Author) -> str:
    """Return whether the effect can be undone, "" if that is unknown."""
    if is_reversible is None:
        return ""
    label = gettext("Can be undone") if is_reversible else gettext("Cannot be undone")
    return with_author(label, author)


def step_label(step: tuple[int, int] | None, author: Author) -> str:
    """Return which step of a wizard a request is, "" for one that is none."""
    if step is None:
        return ""
    label = gettext("Step %(number)d of %(total)d") % {"number": step[0], "total": step[1]}
    return with_author(label, author)


def with_author(label: str, author: Author) -> str:
    """Return the label, marked as the words of an author outside."""
    if author == Author.AGENT:
        return gettext("%(label)s, says the agent") % {"label": label}
    if author == Author.PROGRAM:
        return gettext("%(label)s, says the program") % {"label": label}
    return label
