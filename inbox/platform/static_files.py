"""Static files: compressed, and named after their content."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

_Base = CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    #: Hash the imports of our modules only. `support_js_module_import_aggregation` would also read
    #: the comments of libraries as imports, and fail. Imports must not form a cycle.
    patterns = (
        *_Base.patterns,
        ("js/*.js", _Base._js_module_import_aggregation_patterns[1]),  # type: ignore[attr-defined]  # noqa: SLF001
    )
