"""A real Chromium for browser tests: an installed one, Debian's packages, or Playwright's."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, BrowserType, sync_playwright

from tests.support.caches import exclusive
from tests.support.children import StartFailed

#: Chromium obeys the last `--disable-features` only: these are Playwright's, which a test compares,
#: and the popups of the address bar, two pages that each window renders for half of its CPU time.
_DISABLED_FEATURES: Final = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)
#: It must run as root in a container, on a machine without a screen, and ask nobody for anything.
ARGUMENTS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)
_FULL: Final = "chromium"
#: It has no windows, which saves a quarter of the processor time, and no push messages.
_SHELL: Final = "chromium-headless-shell"
_NAMES: Final = (_FULL, "chromium-browser", "google-chrome-stable", "google-chrome")


def find_chromium(*, full: bool = False) -> Path:
    """
    Find a Chromium, or install one: as root from Debian, otherwise by Playwright's download.

    Prefer the headless shell, unless `full` is set.

    Raises:
        StartFailed: there is none and none could be installed; the text says what was tried.
    """
    names = _NAMES if full else (_SHELL, *_NAMES)
    packages = (_FULL,) if full else (_SHELL, _FULL)  # older releases have no package of the shell
    from_debian = [partial(_install_from_debian, package) for package in packages]
    with exclusive("chromium"):  # two workers of a test run must not both install it
        failures: list[str] = []
        installed = _installed(names) or _playwrights()
        if installed:
            return installed
        for install in (*from_debian, _install_by_playwright):
            failures.append(install())
            installed = _installed(names) or _playwrights()
            if installed:
                return installed
    raise StartFailed("no Chromium, and none could be installed:\n" + "\n".join(failures))


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Start a Chromium with an empty profile and close it in the end."""
    with sync_playwright() as playwright, launch(playwright.chromium) as browser:
        yield browser


def launch(browser_type: BrowserType, *, full: bool = False) -> Browser:
    """Start a Chromium; a process can have only one `sync_playwright`."""
    return browser_type.launch(executable_path=find_chromium(full=full), args=[*ARGUMENTS])


def _installed(names: Sequence[str]) -> Path | None:
    for name in names:
        path = shutil.which(name)
        if path:
            return Path(path)
    return None


def _playwrights() -> Path | None:
    done = _run(
        sys.executable,
        "-c",
        "from playwright.sync_api import sync_playwright as start\n"
        "with start() as playwright: print(playwright.chromium.executable_path)",
    )
    path = Path(done.stdout.strip())
    return path if done.returncode == 0 and path.is_file() else None


def _install_from_debian(package: str) -> str:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "Debian's package: needs root and apt-get"
    for arguments in (("update",), ("install", "-y", package)):
        done = _run("apt-get", *arguments)
        if done.returncode != 0:
            break
    return f"apt-get {' '.join(arguments)}:\n{done.stdout[-2000:]}"


def _install_by_playwright() -> str:
    done = _run(sys.executable, "-m", "playwright", "install", "chromium")
    return f"playwright install chromium:\n{done.stdout[-2000:]}"


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
