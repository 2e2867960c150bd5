// Rows of a list that open to show the requests of one run; this tab remembers which are open.

import { REFRESHED } from "./refresh.js";

const KEY = "signoff.folds";
/** The most states that are stored, the latest ones. */
const MOST_STATES = 200;

/** By the id of a run: whether its requests are shown; runs that nobody has opened are missing. */
const states = new Map(JSON.parse(sessionStorage.getItem(KEY) ?? "[]"));

function store(id, isOpen) {
  states.delete(id);
  states.set(id, isOpen);
  sessionStorage.setItem(KEY, JSON.stringify([...states].slice(-MOST_STATES)));
}

export function isFold(item) {
  return item.classList.contains("fold");
}

/** Update a fold in place: it stays open, and `mergeRows` keeps rows that have not changed. */
export function mergeFold(fold, newFold, mergeRows) {
  fold.className = newFold.className;
  for (const selector of [".fold-head", "summary"]) {
    const [part, newPart] = [fold.querySelector(selector), newFold.querySelector(selector)];
    if (!part.isEqualNode(newPart)) part.replaceChildren(...newPart.childNodes);
  }
  mergeRows(fold.querySelector("ol"), newFold.querySelector("ol"));
}

function showFolds() {
  for (const details of document.querySelectorAll("[data-fold]")) {
    details.open = states.get(details.dataset.fold) ?? details.open;
  }
}

/** Open the fold of the request on screen, which j and k may have opened. */
export function openCurrentFold() {
  const row = document.querySelector("#rows .row[aria-current]");
  const details = row?.closest("[data-fold]");
  if (!details) return;
  store(details.dataset.fold, true);
  if (details.open) return;
  details.open = true;
  row.scrollIntoView({ block: "center" });
}

document.addEventListener("click", ({ target }) => {
  const details = target.closest("[data-fold] > summary")?.parentElement;
  // The click changes it afterwards.
  if (details) store(details.dataset.fold, !details.open);
});

document.addEventListener(REFRESHED, showFolds);

showFolds();
openCurrentFold();
