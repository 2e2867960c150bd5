"""Names of files that people and agents send, as they are stored and displayed."""

import re
import unicodedata
from pathlib import PurePosixPath

MAX_CHARACTERS = 120
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def safe_file_name(name: str) -> str:
    """
    Return a name without a path, control, invisible and bidirectional characters; "file" if empty.

    No system reads more in it than a name: not a folder, a device or a hidden file.
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    visible = "".join(" " if char.isspace() else char for char in last if not _is_dropped(char))
    plain = re.sub(r'[<>:"|?*%;]', "_", " ".join(visible.split())).strip(" .")
    if _RESERVED.fullmatch(plain):
        plain = f"_{plain}"
    return _shortened(plain) or "file"


def _is_dropped(char: str) -> bool:
    return not char.isspace() and unicodedata.category(char)[0] == "C"


def _shortened(name: str) -> str:
    if len(name) <= MAX_CHARACTERS:
        return name
    suffix = PurePosixPath(name).suffix[:20]
    return name[: MAX_CHARACTERS - len(suffix)].rstrip(" .") + suffix
