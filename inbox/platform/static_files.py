"""How static files are collected: ours without comments and spaces, all compressed and named."""

from collections.abc import Callable
from typing import Any, Final

from django.core.files.base import ContentFile
from rcssmin import cssmin
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

#: By the folder of ours; libraries bring their files minified.
_MINIFIERS: Final[dict[str, Callable[[str], str]]] = {"css": cssmin, "js": jsmin}


class StaticFiles(CompressedManifestStaticFilesStorage):
    """Names that change with the content, compressed; our own files are minified before."""

    def _save(self, name: str, content: Any) -> str:
        if minify := _MINIFIERS.get(name.partition("/")[0]):
            # Chunks begin at the beginning; whoever named the file has read it already.
            text = b"".join(content.chunks()).decode()
            content = ContentFile(minify(text).encode())
        return str(super()._save(name, content))  # type: ignore[misc]  # stubs leave it out
