// Loads scripts that few pages use when they are used first: of the palette, of dialogs, of mentions,
// of uploads, of exports, of notifications and of approvals on a phone.

import { closeSheet } from "./input_owner.js";
import { report } from "./post.js";

const sheet = document.querySelector("#sheet");
const choiceField = sheet.querySelector("#sheet-field");
/** After the dialog has led to another page, the link that opened it has the focus again. */
const FOCUS = "signoff.focus";

let fillPalette;
/** Aborted when the dialog closes. */
let opening;

/** Open the palette at once, so that no key typed while it loads acts on the page. */
async function openPalette() {
  const palette = document.querySelector("#palette");
  if (palette.open) {
    palette.close();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  document.querySelector("#rail:popover-open")?.hidePopover();
  const field = palette.querySelector("input");
  field.value = "";
  palette.showModal();
  field.focus();
  fillPalette ??= (await import("./palette.js")).fill;
  fillPalette();
}

/** Open the dialog of a link at once, so that it has all keys, and fill it later. */
async function openSheet(link) {
  if (document.querySelector("dialog[open]")) return;
  opening = new AbortController();
  const { signal } = opening;
  sheet.dataset.action = link.dataset.action;
  sheet.querySelector("#sheet-title").textContent = link.textContent.trim();
  sheet.querySelector("label").textContent = link.dataset.sheet;
  sheet.querySelector("#sheet-hint").textContent = choiceField.value = "";
  delete choiceField.dataset.entered;
  const rest = sheet.querySelector("#sheet-rest");
  rest.replaceChildren();
  rest.ariaBusy = "true";
  sheet.showModal();
  choiceField.focus();
  try {
    await (await import("./sheet.js")).fill(link, signal);
  } catch {
    if (signal.aborted) return;
    closeSheet();
    report(0);
  }
}

// Beside the dialog a click, such as the second one on the link, leaves the focus in the field.
sheet.addEventListener("mousedown", (event) => {
  if (event.target === sheet) event.preventDefault();
});

// Enter waits for the choices, unless something else is typed.
choiceField.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  choiceField.dataset.entered = "";
});
choiceField.addEventListener("input", () => delete choiceField.dataset.entered);

function focusLink(action) {
  document.querySelector(`#head [data-action="${action}"]`)?.focus({ preventScroll: true });
}

// A live update may have replaced the link, to which the browser gives the focus back.
sheet.addEventListener("close", () => {
  opening.abort();
  if (document.activeElement === document.body) focusLink(sheet.dataset.action);
});
sheet.addEventListener("submit", ({ target }) => {
  if (target.method === "post") sessionStorage.setItem(FOCUS, sheet.dataset.action);
});
focusLink(sessionStorage.getItem(FOCUS));
sessionStorage.removeItem(FOCUS);

document.addEventListener("keydown", (event) => {
  const isK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (!isK || event.altKey || event.shiftKey || event.repeat) return;
  event.preventDefault();
  openPalette();
});

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("[data-palette]")) openPalette();
  const link = event.target.closest("[data-sheet]");
  if (!link) return;
  event.preventDefault();
  openSheet(link);
});

document.addEventListener("focusin", async ({ target }) => {
  if (target.matches("[data-mentions]")) (await import("./mentions.js")).completeMentions();
  if (target.closest(".filter-form")) (await import("./filters.js")).hideButtons();
});
// On a slow line the script comes after the first change.
for (const type of ["change", "input"]) {
  document.addEventListener(type, async (event) => {
    if (!event.target.closest(".filter-form")) return;
    (await import("./filters.js")).applyChange(event);
  });
}

document.addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  if (form.dataset.download !== "") return;
  event.preventDefault();
  (await import("./download.js")).download(form, submitter);
});

for (const button of document.querySelectorAll("[data-palette]")) button.hidden = false;

const notify = document.querySelector("#notify");
const permission = window.Notification?.permission;
if (permission === "granted") import("./notifications.js").then(({ watchRows }) => watchRows());
if (notify && permission === "default") {
  notify.hidden = false;
  notify.addEventListener("click", async () => (await import("./notifications.js")).turnOn(notify));
}

const phone = matchMedia("(pointer: coarse) and (width < 48rem)");
if (phone.matches) import("./tap_confirm.js");

// On a phone the first tap on Approve asks, and the second one approves. A note that is missing is
// what the answer to the first one says.
document.addEventListener(
  "click",
  async (event) => {
    const button = event.target.closest("#decide-buttons > button[value=approve]");
    const isNoteMissing = document.querySelector("#f-reason[data-required]")?.value.trim() === "";
    if (!button || !phone.matches || isNoteMissing) return;
    event.preventDefault();
    try {
      await (await import("./tap_confirm.js")).ask(button);
    } catch {
      report(0);
    }
  },
  true,
);

function loadUploads() {
  if (document.querySelector("[data-upload]")) import("./uploads.js");
}

// Fields may come with a request that is swapped in.
new MutationObserver(loadUploads).observe(document.body, { childList: true, subtree: true });
loadUploads();
