"""Words for the risk and the step of a request; those of a remote agent are marked as its own."""

from django.utils.translation import gettext, gettext_noop

from inbox.rules.presentations.vocabulary import Severity

_SEVERITIES: dict[str, str] = {
    Severity.LOW: gettext_noop("Low risk"),
    Severity.MEDIUM: gettext_noop("Medium risk"),
    Severity.HIGH: gettext_noop("High risk"),
    Severity.CRITICAL: gettext_noop("Critical risk"),
}


def severity_label(severity: str, *, is_remote: bool) -> str:
    """Return the name of a severity, "" for an unknown one."""
    if severity not in _SEVERITIES:
        return ""
    name = gettext(_SEVERITIES[severity])
    return gettext("%(risk)s, says the agent") % {"risk": name} if is_remote else name


def reversibility_label(is_reversible: bool | None, *, is_remote: bool) -> str:
    """Return whether the effect can be undone, "" if that is unknown."""
    if is_reversible is None:
        return ""
    if is_reversible:
        return gettext("Can be undone, says the agent") if is_remote else gettext("Can be undone")
    return gettext("Cannot be undone, says the agent") if is_remote else gettext("Cannot be undone")


def step_label(step: tuple[int, int] | None, *, is_remote: bool) -> str:
    """Return which step of a wizard a request is, "" for one that is none."""
    if step is None:
        return ""
    name = gettext("Step %(number)d of %(total)d") % {"number": step[0], "total": step[1]}
    return gettext("%(step)s, says the agent") % {"step": name} if is_remote else name
