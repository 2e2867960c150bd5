// Applies the filter of a list while it is typed and chosen. Without this script there is a button.

import { main } from "./page.js";
import { REFRESHED, refresh } from "./refresh.js";

const TYPING_MS = 300;

let timer;

/** Read the page with the fields of the form; the list and its address follow. */
function apply(form) {
  clearTimeout(timer);
  const fields = [...new FormData(form)].filter(([, value]) => value !== "");
  const { pathname } = new URL(main.dataset.url, location.href);
  const query = new URLSearchParams(fields).toString();
  main.dataset.url = query ? `${pathname}?${query}` : pathname;
  refresh();
}

/** Take over the address as the server writes it, without default values. */
function showAddress() {
  const chips = document.querySelector("#list-chips");
  if (!chips) return;
  const { pathname } = new URL(main.dataset.url, location.href);
  const address = main.dataset.interrupt ? pathname + chips.dataset.query : chips.dataset.url;
  main.dataset.url = address;
  history.replaceState(history.state, "", address);
}

/** Apply what was chosen or typed in a filter. */
export function applyChange({ type, target }) {
  const form = target.closest(".filter-form");
  if (target.type === "search") {
    if (type !== "input") return;
    clearTimeout(timer);
    timer = setTimeout(() => apply(form), TYPING_MS);
  } else if (type === "change") {
    // Open and decided requests are different pages.
    if (target.name === "state") form.requestSubmit();
    else apply(form);
  }
}

/** Hide the buttons, which a list that was read again has anew. */
export function hideButtons() {
  for (const button of document.querySelectorAll(".filter-apply")) button.hidden = true;
}

document.addEventListener(REFRESHED, showAddress);
