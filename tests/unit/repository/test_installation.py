"""The progress that `make run` prints while it installs packages."""

from tools.install_requirements import progress

PIP = [
    *(f"Collecting package-{number}==1.0 (from -r base.txt)\n" for number in range(1, 13)),
    "  Downloading package.whl (1 kB)\n",
    "Installing collected packages: package-1\n",
]


def test_a_log_has_a_line_for_every_ten_packages():
    text = "".join(progress(PIP, 12, is_terminal=False))

    assert text.startswith("  10 of 12: package-10==1.0\n  Writing the packages into ")
    assert text.count("\n") == 2


def test_a_terminal_has_one_line_that_changes():
    text = "".join(progress(PIP, 12, is_terminal=True))

    assert "\n" not in text
    assert "  3 of 12: package-3==1.0" in text
