"""Forms of the admin, filled in and sent as a browser does."""

import re

from tests.support.forms.form_page import Page

FORM = "application/x-www-form-urlencoded"


def path(row, what="change/"):
    """The address of a row's page."""
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/{what}"


def opened(client, address):
    """The form of a page."""
    page = client.get(address).content.decode()
    match = re.search(r'<form[^>]* id="\w+_form".*?</form>', page, re.DOTALL)
    assert match, page
    form = Page(match.group())
    for control in form.controls:
        if control.type == "checkbox" and "value" not in control.attributes:
            control.attributes["value"] = control.value = "on"
    return form


def press_surely(client, address, button):
    """Press a button that asks whether one is sure, and say yes."""
    text = press(client, address, opened(client, address), button).content.decode()
    match = re.search(r'<form[^>]* id="sure_form".*?</form>', text, re.DOTALL)
    assert match, text
    return press(client, address, Page(match.group()), "_sure")


def press(client, address, form, button="_save"):
    """Send the form by one of its buttons."""
    buttons = [control.name for control in form.controls if control.type == "submit"]
    assert button in buttons, buttons
    form.controls = [control for control in form.controls if control.type != "submit"]
    return client.post(address, form.post(**{button: "x"}).urlencode(), content_type=FORM)
