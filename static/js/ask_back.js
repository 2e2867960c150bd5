// The question to the agent: `b` opens it, Ctrl+Enter in it sends it, Esc closes it.

/** Show the text field of the question, and focus it. */
export function openQuestion() {
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
