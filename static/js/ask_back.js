// The question to the agent: `b` opens it, Ctrl+Enter in it sends it, Esc closes it.

/** As keyboard.js stores it. */
const KEYS_OFF = "signoff.keys-off";

function open() {
  const details = document.querySelector("#ask-back");
  if (!details?.checkVisibility()) return;
  details.open = true;
  details.querySelector("textarea").focus();
}

document.addEventListener(
  "keydown",
  (event) => {
    const { target, key } = event;
    if (target.id !== "f-feedback" || event.isComposing) return;
    if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) target.closest("details").querySelector("button").click();
    } else if (key === "Escape") {
      event.stopPropagation();
      target.closest("details").open = false;
      target.closest("details").querySelector("summary").focus();
    }
  },
  true,
);

document.addEventListener("keydown", (event) => {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (event.key !== "b" || !isPlain || event.defaultPrevented) return;
  if (event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog[open]")) return;
  if (localStorage.getItem(KEYS_OFF) || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  open();
});
