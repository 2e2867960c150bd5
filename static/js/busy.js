// Shows on a button that its form is under way, until there is an answer.

/** A page that is still there was not left: the answer was a file, or the reader has stopped it. */
const LONGEST_MS = 10_000;

let pressed;
let timer;

function start(button) {
  if (!button) return;
  end();
  pressed = button;
  button.ariaBusy = "true";
  timer = setTimeout(end, LONGEST_MS);
}

function end() {
  clearTimeout(timer);
  pressed?.removeAttribute("aria-busy");
  pressed = undefined;
}

function submitterOf({ detail: { requestConfig } }) {
  return requestConfig.triggeringEvent?.submitter;
}

// On the window: by then every script has said whether it sends the form itself.
addEventListener("submit", ({ target, submitter, defaultPrevented }) => {
  const leaves = target.method !== "dialog" && !target.target && !("download" in target.dataset);
  if (!defaultPrevented && leaves) start(submitter);
});

document.addEventListener("htmx:beforeSend", (event) => start(submitterOf(event)));
document.addEventListener("htmx:afterRequest", (event) => {
  if (submitterOf(event) === pressed) end();
});

// Back again, from the memory of the browser.
addEventListener("pageshow", ({ persisted }) => persisted && end());
