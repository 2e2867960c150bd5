#!/usr/bin/env python3
"""
Prepare docker-compose.yml: make secrets, and pin images by digest. Needs Python and Docker only.

    python3 tools/prepare_deployment.py            # both; what is there already stays
    python3 tools/prepare_deployment.py --secrets  # only make missing secrets
    python3 tools/prepare_deployment.py --images   # only pin images, again with --update

Secrets are files in deploy/secrets/, for the user of the container. Images are lines in .env, such
as POSTGRES_IMAGE=postgres:17@sha256:..., with the digests that Docker reports for the tags below.
"""

import argparse
import os
import re
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
#: The user of the image (Dockerfile).
CONTAINER_USER: Final = 10001
SECRETS: Final = (
    *("owner-password", "application-password", "redis-password"),
    *("secret-key", "encryption-keys", "decision-keys"),
)
#: Secrets that may be empty, with the setting that earlier versions read from .env.
OPTIONAL_SECRETS: Final = {
    "secret-key-fallbacks": "SIGNOFF_SECRET_KEY_FALLBACKS",
    "egress-proxy": "SIGNOFF_EGRESS_PROXY",
    "metrics-token": "SIGNOFF_METRICS_TOKEN",
    "otlp-headers": "OTEL_EXPORTER_OTLP_HEADERS",
    "email-url": "SIGNOFF_EMAIL_URL",
    "vapid-key": "SIGNOFF_VAPID_KEY",
    "oidc": "SIGNOFF_OIDC",
}
IMAGES: Final = {
    "PYTHON_IMAGE": "python:3.13-slim",
    "POSTGRES_IMAGE": "postgres:17",
    "VALKEY_IMAGE": "valkey/valkey:8",
    "CADDY_IMAGE": "caddy:2",
}
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


class NotPrepared(Exception):
    """A step that failed; the text says what to do."""


def make_secrets(folder: Path, env_file: Path | None = None) -> list[str]:
    """
    Make the missing secrets, for the user of the container only; return their names.

    Optional ones are empty, or have the value that stands in `env_file`, where it is removed.

    Without root, that user cannot be given a file: then it is readable by its owner, and the
    command to give it away is in the error.

    Raises:
        NotPrepared.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new_names = []
    for name in (*SECRETS, *OPTIONAL_SECRETS):
        path = folder / name
        if path.exists():
            continue
        setting = OPTIONAL_SECRETS.get(name)
        value = _take_setting(env_file, setting) if setting else secrets.token_urlsafe(48)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
        with os.fdopen(descriptor, "w") as file:
            file.write(value)
        new_names.append(name)
    if os.geteuid() == 0:
        for name in (*SECRETS, *OPTIONAL_SECRETS):
            os.chown(folder / name, CONTAINER_USER, CONTAINER_USER)
    elif new_names and os.geteuid() != CONTAINER_USER:
        raise NotPrepared(
            f"Secrets were made, but the containers cannot read them yet: "
            f"sudo chown {CONTAINER_USER} {folder}/*"
        )
    return new_names


def _take_setting(env_file: Path | None, name: str) -> str:
    """Remove a setting from .env, and return its value, "" without one."""
    if env_file is None or not env_file.exists():
        return ""
    lines = env_file.read_text().splitlines()
    values = [line.split("=", 1)[1] for line in lines if line.startswith(f"{name}=")]
    if not values:
        return ""
    others = [line for line in lines if not line.startswith(f"{name}=")]
    env_file.write_text("".join(f"{line}\n" for line in others))
    value = values[-1].strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value


def pin_images(
    env_file: Path, *, update: bool, digest_of: Callable[[str], str] | None = None
) -> list[str]:
    """
    Write the images with their digests into the file; return the lines that are new.

    Lines that have a digest stay, unless `update` is set. Other lines are not touched.

    Raises:
        NotPrepared: Docker reports no digest; nothing is written.
    """
    digest_of = digest_of or _digest_of
    lines = env_file.read_text().splitlines() if env_file.exists() else []
    pinned = dict(line.split("=", 1) for line in lines if line.split("=", 1)[0] in IMAGES)
    new = {}
    for name, tag in IMAGES.items():
        if update or not DIGEST.search(pinned.get(name, "")):
            new[name] = f"{tag}@{digest_of(tag)}"
    other_lines = [line for line in lines if line.split("=", 1)[0] not in new]
    written = [f"{name}={image}" for name, image in new.items()]
    if written:
        env_file.write_text("\n".join([*other_lines, *written]) + "\n")
    return written


def _digest_of(tag: str) -> str:
    """Ask Docker for the digest of a tag in its registry, for all platforms."""
    command = ["docker", "buildx", "imagetools", "inspect", tag, "--format", "{{.Manifest.Digest}}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotPrepared("Docker with buildx is needed to read the digests of images.") from error
    digest = done.stdout.strip()
    if done.returncode or not DIGEST.fullmatch(digest):
        raise NotPrepared(f"Docker reports no digest of {tag}: {done.stderr.strip() or digest}")
    return digest


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().splitlines()[0])
    parser.add_argument("--secrets", action="store_true", help="make missing secrets only")
    parser.add_argument("--images", action="store_true", help="pin images only")
    parser.add_argument("--update", action="store_true", help="pin the present images again")
    options = parser.parse_args()
    try:
        if options.images or not options.secrets:
            for line in pin_images(ROOT / ".env", update=options.update):
                print(f".env: {line}")
        if options.secrets or not options.images:
            for name in make_secrets(ROOT / "deploy" / "secrets", ROOT / ".env"):
                print(f"deploy/secrets/{name}")
    except NotPrepared as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
