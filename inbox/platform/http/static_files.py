"""Static files: compressed, and named after their content."""

import fcntl
import hashlib
import re
from importlib.metadata import version
from operator import itemgetter
from pathlib import Path
from typing import Any

import brotli
import rcssmin
import rjsmin
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from django.core.management import call_command
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

_Base = CompressedManifestStaticFilesStorage
#: In `.rail :is(a, b) {`, also over two lines. Inside of a layer rcssmin takes the colon for one of
#: a declaration, and removes the space, so that the rule would be for the rail itself.
_EXPLICIT = re.compile(rb"(?<=[\w\])])\s+:(?=[\w:-][^;{}]*\{)")
#: What our modules and style sheets lose: comments and white space, a third of what browsers load.
_MINIFIERS = {"js": rjsmin.jsmin, "css": lambda text: rcssmin.cssmin(_EXPLICIT.sub(b" *:", text))}
#: What is not used: of REST framework's browsable API, of admin widgets and of Redoc.
_UNUSED = ["rest_framework", "select2", "redoc"]
#: In the directory of collected files, with the digest of what they were collected from.
_MARKER = ".collected"
#: In the same directory: locked by the process that collects.
_LOCK = ".collecting"

#: Brotli at its best level takes a second for each 250 kB, and all of them at the first start.
_MAX_BEST_BYTES = 60_000


class _StaticFileCompressor(Compressor):
    @staticmethod
    def compress_brotli(data: bytes) -> Any:
        quality = 11 if len(data) <= _MAX_BEST_BYTES else 5
        return brotli.compress(data, quality=quality)  # type: ignore[no-untyped-call]


class StaticFiles(CompressedManifestStaticFilesStorage):
    #: Hash the imports of our modules only. `support_js_module_import_aggregation` would also read
    #: the comments of libraries as imports, and fail. Imports must not form a cycle.
    patterns = (
        *_Base.patterns,
        ("js/*.js", _Base._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]  # noqa: SLF001
    )

    def _save(self, name: str, content: Any) -> Any:
        if own := re.fullmatch(r"(js|css)/[\w.-]+\.\1", name):
            content.seek(0)  # the base class has read it to name it after its content
            content = ContentFile(_MINIFIERS[own[1]](content.read()))
        return super()._save(name, content)  # type: ignore[misc]  # the stubs leave it out

    def create_compressor(self, **options: Any) -> Compressor:
        return _StaticFileCompressor(**options)  # type: ignore[no-untyped-call]


def collect_static_files() -> bool:
    """
    Collect the static files, unless what they are collected from is the same as the last time.

    Processes that start together wait for the first of them: each would replace files that
    another one is reading. Returns whether they were collected: to compress them takes five seconds
    of processor time.
    """
    root = Path(settings.STATIC_ROOT)
    digest = _digest_of_sources()
    with (root / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # given back when the file is closed, or its process ends
        marker = root / _MARKER
        if marker.exists() and marker.read_text() == digest:
            return False
        # If the process is stopped meanwhile, the next start collects all of them.
        marker.unlink(missing_ok=True)
        call_command("collectstatic", verbosity=0, interactive=False, ignore=_UNUSED)
        marker.write_text(digest)
    return True


def _digest_of_sources() -> str:
    """Return a digest of the files to be collected, and of the code that collects them."""
    versions = [
        version(package) for package in ("django", "whitenoise", "brotli", "rcssmin", "rjsmin")
    ]
    backend = settings.STORAGES["staticfiles"]["BACKEND"]
    digest = hashlib.sha256(repr((versions, backend)).encode() + Path(__file__).read_bytes())
    for finder in get_finders():
        for path, storage in sorted(finder.list(_UNUSED), key=itemgetter(0)):
            with storage.open(path) as file:
                content = hashlib.sha256(file.read()).hexdigest()
            digest.update(f"{path}\0{content}\0".encode())
    return digest.hexdigest()
