from inbox.sending.mail_page import MailLink, letter

URL = "https://signoff.example/join/1"
TEXT = f"<b>Eve</b> invited you.\n\nOpen this link:\n{URL}\n\nIt works once."


def test_the_page_of_a_letter_has_its_link_as_its_only_button():
    link = MailLink(URL, "Join the team", is_button=True)

    mail = letter("Invitation", TEXT, to="bob@example.com", link=link)

    page = str(mail.alternatives[0][0])
    assert mail.body == TEXT
    assert page.count("<a ") == page.count('class="button"') == 1
    assert page.count(URL) == 1
    assert "&lt;b&gt;Eve&lt;/b&gt; invited you." in page
    assert page.index("Join the team") < page.index("It works once.")
