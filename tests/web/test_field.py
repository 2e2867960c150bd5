"""The tag of templates that renders a field of a form."""

import pytest
from django.template import Context, Template, TemplateSyntaxError

HOSTILE = '"><b>x</b>'


def rendered(source, **context):
    return " ".join(Template(source).render(Context(context)).split())


def test_a_field_joins_its_control_with_its_help_and_problem():
    field = rendered('{% field "days" "Days" problem="Enter 1 to 5." %}1 to 5{% endfield %}')

    assert 'for="f-days"' in field
    assert 'aria-describedby="f-days-help f-days-err"' in field
    assert 'id="f-days-help">1 to 5<' in field
    assert 'id="f-days-err">Enter 1 to 5.<' in field
    assert 'aria-invalid="true"' in field


def test_texts_of_people_are_escaped_and_help_is_not_escaped_twice():
    source = '{% field "name" label value=value problem=value %}<b>{{ value }}</b>{% endfield %}'
    field = rendered(source, label=HOSTILE, value=HOSTILE)

    assert HOSTILE not in field
    assert field.count("&quot;&gt;&lt;b&gt;x") == 4
    assert "<b>&quot;" in field


def test_a_password_is_never_sent_back():
    assert "hunter2" not in rendered(
        '{% field "password" "Password" value="hunter2" kind="password" %}{% endfield %}'
    )


@pytest.mark.parametrize(
    ("options", "value", "chosen"),
    [
        (["a", "b"], "b", ["b"]),
        ([(1, "One"), (2, "Two")], "2", ["2"]),
        ([("", "All", False), ("x", "X", True)], None, ["x"]),
        (["a"], None, []),
    ],
)
def test_an_option_is_chosen_by_the_value_or_by_itself(options, value, chosen):
    source = '{% field "f" "F" value=value options=options %}{% endfield %}'
    parts = rendered(source, options=options, value=value).split("<option ")[1:]

    assert [part.split('"')[1] for part in parts if "selected" in part] == chosen


def test_a_large_number_has_no_separators():
    assert 'value="87600"' in rendered('{% field "h" "H" value=87600 %}{% endfield %}')


def test_an_attribute_that_no_field_has_is_an_error():
    with pytest.raises(TemplateSyntaxError):
        Template('{% field "f" "F" colour="red" %}{% endfield %}')
