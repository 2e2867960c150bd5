"""What a browser posts for a rendered form: enough of HTML's form submission for our forms."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

from django.http import QueryDict
from django.template.loader import render_to_string

NATIVE = {
    "date": re.compile(r"\d{4,}-\d\d-\d\d"),
    "datetime-local": re.compile(r"\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?"),
}


@dataclass
class Control:
    tag: str
    attributes: dict
    value: str = ""
    options: list = field(default_factory=list)

    @property
    def name(self):
        return self.attributes.get("name", "")

    @property
    def type(self):
        return self.attributes.get("type", "text")


class Page(HTMLParser):
    """A rendered form with what a person does in it."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.controls = []
        self.buttons = []
        self.ids = []
        self._open = None
        self._text = ""
        self.feed(html.replace("\r\n", "\n").replace("\r", "\n"))  # as an input stream is read
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = {name: value or "" for name, value in attrs}
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "button":
            self.buttons.append(attributes.get("value", ""))
        if tag == "input":
            self.controls.append(Control(tag, attributes, _sanitized(attributes)))
        elif tag in ("textarea", "select"):
            self._open = Control(tag, attributes)
            self._text = ""
        elif tag == "option":
            self._open.options.append((attributes["value"], "selected" in attributes))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_data(self, data):
        self._text += data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self._open.value = self._text.removeprefix("\n")
        elif tag == "select":
            chosen = [value for value, selected in self._open.options if selected]
            self._open.value = (chosen or [value for value, _ in self._open.options[:1]] or [""])[
                -1
            ]
        if tag in ("textarea", "select"):
            self.controls.append(self._open)
            self._open = None

    def control(self, name):
        (control,) = [control for control in self.controls if control.name == name]
        return control

    def control_type(self, name):
        """Of the first control of this name: radio buttons share one."""
        return next(control.type for control in self.controls if control.name == name)

    def fill(self, name, text):
        """Type into a field, as a text or text area keeps it."""
        control = self.control(name)
        control.attributes["value"] = text
        control.value = text if control.tag != "input" else _sanitized(control.attributes)
        return self

    def choose(self, name, value):
        radios = [control for control in self.controls if control.name == name]
        if radios[0].tag == "select":
            assert value in [option for option, _ in radios[0].options]
            radios[0].value = value
            return self
        assert value in [radio.attributes["value"] for radio in radios]
        for radio in radios:
            radio.attributes.pop("checked", None)
            if radio.attributes["value"] == value:
                radio.attributes["checked"] = ""
        return self

    def tick(self, name, value="1", *, on=True):
        (box,) = [c for c in self.controls if c.name == name and c.attributes["value"] == value]
        box.attributes.pop("checked", None)
        if on:
            box.attributes["checked"] = ""
        return self

    def pairs(self):
        for control in self.controls:
            unset = control.type in ("radio", "checkbox") and "checked" not in control.attributes
            if control.name and not unset and "disabled" not in control.attributes:
                yield _crlf(control.name), _crlf(control.value)

    def post(self, **more):
        """What the server gets when the form is sent now."""
        return QueryDict(urlencode([*self.pairs(), *more.items()], encoding="utf-8"))

    def press(self, value):
        """What the server gets when this button is pressed."""
        assert value in self.buttons, (value, self.buttons)
        return self.post(draft=value)


def render(form):
    return render_to_string("forms/form.html", {"form": form}) + render_to_string(
        "forms/tabs.html", {"form": form}
    )


def open_page(form):
    return Page(render(form))


def _sanitized(attributes):
    value = attributes.get("value", "")
    kind = attributes.get("type", "text")
    if kind in ("text", "search", "tel", "password", "email", "url"):
        value = value.replace("\n", "").replace("\r", "")
    if kind in ("email", "url"):
        value = value.strip(" \t\n\f\r")
    if kind in NATIVE and not NATIVE[kind].fullmatch(value):
        value = ""
    return value


def _crlf(text):
    return re.sub(r"\r\n|\r|\n", "\r\n", text)
