"""
Storage of collected static files: minified, compressed, and named by their content.

Why: neither Django nor WhiteNoise minifies.
Remove when: WhiteNoise has a hook for minifiers, or a build step minifies.
"""

from collections.abc import Callable
from typing import Any, Final

from django.core.files.base import ContentFile
from rcssmin import cssmin
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

#: By folder; files of libraries are minified already.
_MINIFIERS: Final[dict[str, Callable[[str], str]]] = {"css": cssmin, "js": jsmin}


class StaticFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage, which minifies our own files before it compresses them."""

    def _save(self, name: str, content: Any) -> str:
        if minify := _MINIFIERS.get(name.partition("/")[0]):
            # `chunks` rewinds the file, which was read for its hash.
            text = b"".join(content.chunks()).decode()
            content = ContentFile(minify(text).encode())
        return str(super()._save(name, content))  # type: ignore[misc]  # stubs leave it out
