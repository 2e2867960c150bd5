// Buttons that need JavaScript: copy, close, open a dialog, reasons. They are hidden without it.

import { messages } from "./page.js";

export function showButtons() {
  for (const element of document.querySelectorAll("[data-scripted]")) element.hidden = false;
  for (const button of document.querySelectorAll("[data-copy], [data-close], [data-opens]")) {
    const { copy: source } = button.dataset;
    // The element to copy may be missing, for example without edits.
    button.hidden = Boolean(source) && !(navigator.clipboard && document.getElementById(source));
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  await navigator.clipboard.writeText(source.textContent);
  button.lastElementChild.textContent = messages.copied;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-close], [data-opens]");
  if (button?.dataset.copy) copy(button);
  if (button?.dataset.opens) document.getElementById(button.dataset.opens).showModal();
  if (button?.dataset.close) document.getElementById(button.dataset.close)?.remove();
});
