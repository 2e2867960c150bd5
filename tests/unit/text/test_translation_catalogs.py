"""The catalogs: everything that pages say has words in every language."""

import re

import pytest
from django.conf import settings

from tests.support import texts

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
_PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}|</?[a-z][^>]*>")
#: Both languages have the same word.
_SAME = {
    *("Webhook", "Webhooks", "Teams"),
    *(
        "Admin",
        "App",
        "Browser",
        "Agent",
        "Argument",
        "Chat",
        "Chats",
        "Limit: %(name)s",
        "Limits",
        "Live",
        "Live, {count} online",
        "Median",
        "Name",
        "Person",
        "Server",
        "Team",
        "Test",
        "Text",
        "Thread",
        "Threads",
        "Version",
        "Filter",
        "Mails",
        "Name in Slack",
        "Workspace",
        "optional",
        "null",
    ),
    *("Deployment", "Diff", "Region", "Zone"),
    "%(day)s %(clock)s %(zone)s",
    *(
        "URL",
        "Audio",
        "Video",
        "{count} ms",
        "{count} s",
        "Code",
        "Passkey",
        "Passkeys",
        "Passkey {number}",
    ),
    *(
        "At {pointer}: {problem}",
        "in {time}",
        "Team %(name)s",
        "Version %(number)s",
        "j M",
        "{number} {unit}",
    ),
}


def strings(message):
    return message.string if isinstance(message.string, tuple) else (message.string,)


def ids(message):
    return message.id if isinstance(message.id, tuple) else (message.id,)


def test_every_catalog_belongs_to_a_language_that_can_be_chosen():
    assert sorted(path.name for path in texts.LOCALE.iterdir()) == sorted(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_words_and_no_words_are_left_over(language):
    catalog, messages = texts.read(language), texts.extracted()

    translated_ids = {message.id for message in texts.messages_of(catalog) if all(strings(message))}
    assert translated_ids == {message.id for message in texts.messages_of(messages)}
    assert not [message.id for message in catalog if message.fuzzy]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_keeps_the_placeholders_and_the_markup(language):
    for message in texts.messages_of(texts.read(language)):
        for source, text in zip(ids(message), strings(message), strict=True):
            placeholders = sorted(_PLACEHOLDER.findall(source))
            assert sorted(_PLACEHOLDER.findall(text)) == placeholders, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_cannot_end_the_attribute_that_it_stands_in(language):
    for message in texts.messages_of(texts.read(language)):
        if "<" not in ids(message)[0]:
            assert not [text for text in strings(message) if re.search('["<>]', text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalog_is_that_of_the_source(language):
    compiled = texts.po_path(language).with_suffix(".mo").read_bytes()

    assert compiled == texts.compiled(texts.read(language))


def test_no_english_text_stands_for_its_own_translation():
    same = {
        message.id
        for message in texts.messages_of(texts.read("de"))
        if message.id == message.string
    }

    assert same <= _SAME
