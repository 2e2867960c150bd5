"""Static files: compressed, and named after their content."""

import re
from typing import Any

import brotli
from django.core.files.base import ContentFile
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

_Base = CompressedManifestStaticFilesStorage
#: Lines of our modules and style sheets that are comments only, and the indentation of others: they
#: would be a fifth of what browsers load.
_COMMENTS = re.compile(rb"^[ ]*(?://[^\n]*|/\*.*?\*/)\n", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(rb"^ +", re.MULTILINE)


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
        if re.fullmatch(r"js/[\w.-]+\.js|css/[\w.-]+\.css", name):
            content.seek(0)  # the base class has read it to name it after its content
            content = ContentFile(_INDENTATION.sub(b"", _COMMENTS.sub(b"", content.read())))
        return super()._save(name, content)  # type: ignore[misc]  # the stubs leave it out

    def create_compressor(self, **options: Any) -> Compressor:
        return _StaticFileCompressor(**options)  # type: ignore[no-untyped-call]
