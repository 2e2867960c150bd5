"""Every case in a real browser, submitted by it untouched."""

import json

import pytest
from django.http import QueryDict

from agents.agui import strict_json
from inbox.forms.form import build_form
from inbox.forms.values import ABSENT
from inbox.rules.decisions.consent import canonical_json
from tests.support.forms.cases import USABLE
from tests.support.forms.form_page import open_page, render

pytestmark = pytest.mark.browser
HOME = "http://forms.test/"


def forms(values):
    """One form per case, with names of its own."""
    return [
        build_form(
            schema=strict_json.loads(json.dumps(case.schema)),
            value=strict_json.loads(json.dumps(value)) if value is not ABSENT else ABSENT,
            name=f"case{number}",
        )
        for number, (case, value) in enumerate(zip(USABLE, values, strict=True))
    ]


def document(built):
    parts = [f'<form method="post" target="sink">{render(form)}</form>' for form in built]
    head = '<!doctype html><html lang="en"><title>Forms</title>'
    return f'{head}{"".join(parts)}<iframe name="sink"></iframe>'


@pytest.fixture(scope="module")
def submit(chromium):
    """Load forms in Chromium and return what it posts for each of them."""

    def submitted(built):
        posts = []
        page = chromium.new_page()

        def answer(route):
            if route.request.method == "POST":
                posts.append(QueryDict(route.request.post_data_buffer))
                route.fulfill(body="taken", content_type="text/plain")
            else:
                route.fulfill(
                    body=document(built).encode(), content_type="text/html; charset=utf-8"
                )

        page.route("**/*", answer)
        page.goto(HOME)
        for number in range(len(built)):
            with page.expect_response(HOME):
                page.evaluate("number => document.forms[number].submit()", number)
        page.close()
        return posts

    return submitted


def test_untouched_in_chromium_is_sent_exactly_as_the_agent_wrote_it(submit):
    built = forms([case.value for case in USABLE])

    readings = [form.read(post) for form, post in zip(built, submit(built), strict=True)]

    wrong = [
        (case.name, reading)
        for case, reading in zip(USABLE, readings, strict=True)
        if reading.problems or canonical_json(reading.value) != canonical_json(case.value)
    ]
    assert wrong == []


def test_unanswered_in_chromium_invents_nothing(submit):
    built = forms([ABSENT] * len(USABLE))

    readings = [form.read(post) for form, post in zip(built, submit(built), strict=True)]

    names = {c.name for c, r in zip(USABLE, readings, strict=True) if r.value is not ABSENT}
    assert names <= {"the whole answer is null"}


def test_simulated_form_posts_match_chromium(submit):
    built = forms([case.value for case in USABLE])

    posts = submit(built)

    different = [
        case.name
        for case, form, post in zip(USABLE, built, posts, strict=True)
        if sorted(open_page(form).post().lists()) != sorted(post.lists())
    ]
    assert different == []
