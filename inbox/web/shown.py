"""What the pages use of the rule that nothing an agent wrote stays unseen."""

from inbox.domain.shown import has_hidden, json_text, pretty, visible

__all__ = ["has_hidden", "json_text", "pretty", "visible"]
