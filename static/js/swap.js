// Replaces changed elements of the page by id without losing focus, selection or input.

import { isUndecided, isUnsent, lock, unlock } from "./decision_form.js";
import { isFold, mergeFold } from "./folds.js";
import { guardPointer } from "./input_owner.js";
import { main } from "./page.js";
import { holdPlaces } from "./pointed_rows.js";
import { REFRESHED } from "./refresh.js";
import { coverNote, exposeNote } from "./reject_note.js";

/** The HTML that the server sent last, by element id. Only elements that differ are swapped. */
const serverHtml = new Map();

// From its `<`, which the HTML of a text never contains: an agent cannot write such an input.
const TOKEN = /(<input type="hidden" name="csrfmiddlewaretoken" value=")\w+/g;
const TIME = /(<time [^>]*>)[^<]*/g;

/** Return the HTML of an element without CSRF tokens and words of times, which change by themselves. */
function htmlOf(element) {
  return element.outerHTML.replace(TOKEN, "$1").replace(TIME, "$1");
}

/** Store the HTML of the live elements below `root`. */
export function rememberHtml(root) {
  for (const element of root.querySelectorAll("[data-live]")) {
    serverHtml.set(element.id, htmlOf(element));
    if (element.dataset.live === "keyed") {
      for (const child of element.querySelectorAll("li[id]")) {
        serverHtml.set(child.id, htmlOf(child));
      }
    }
  }
}

/** Swap this element at the next refresh even if the server's HTML stays the same. */
export function forgetHtml(id) {
  serverHtml.delete(id);
}

/** Keep the selection of the rows that this element replaces. */
function keepSelection(element) {
  for (const box of element.querySelectorAll(".row-check")) {
    const row = document.getElementById(box.closest(".row").id);
    box.checked = Boolean(row?.querySelector(".row-check")?.checked);
  }
}

/** Keep sections as the reader left them, matched by the id of their summary. */
function keepOpened(element, newElement) {
  for (const { id, parentElement } of element.querySelectorAll("details > summary[id]")) {
    const summary = newElement.querySelector(`#${CSS.escape(id)}`);
    if (summary) summary.parentElement.open = parentElement.open;
  }
}

/** Update a list child by child, so that unchanged children keep focus and selection. */
function mergeChildren(list, newList) {
  const current = new Map(Array.from(list.children, (child) => [child.id, child]));
  const children = Array.from(newList.children, (child) => {
    const html = htmlOf(child);
    const isSame = current.has(child.id) && serverHtml.get(child.id) === html;
    serverHtml.set(child.id, html);
    if (isSame) return current.get(child.id);
    if (current.has(child.id) && isFold(child)) {
      mergeFold(current.get(child.id), child, mergeChildren);
      return current.get(child.id);
    }
    for (const row of child.querySelectorAll("li[id]")) serverHtml.set(row.id, htmlOf(row));
    keepSelection(child);
    if (current.has(child.id)) keepOpened(current.get(child.id), child);
    return child;
  });
  const place = placeOfFocus(list);
  for (const child of current.values()) {
    if (!children.includes(child)) child.remove();
  }
  children.forEach((child, index) => {
    if (list.children[index] !== child) list.insertBefore(child, list.children[index] ?? null);
  });
  if (place) restoreFocus(place);
}

/** Move unsent texts, or one with the focus, to the new bar, whose buttons are others. */
function keepTexts(bar, newBar) {
  const parts = [...bar.querySelectorAll(".note, #ask-back")];
  const focused = parts.find((part) => part.contains(document.activeElement));
  if (!isUnsent() && !focused) return;
  const isDecided = !isUndecided(newBar);
  const form = document.querySelector("#decision");
  if (isDecided) lock(form);
  else unlock(form); // the decision was undone
  const note = parts.find((part) => part.matches(".note"));
  if (note) (isDecided ? exposeNote : coverNote)(note);
  for (const part of parts) {
    const newPart = newBar.querySelector(part.id ? "#ask-back" : ".note");
    if (newPart) newPart.replaceWith(part);
    else newBar.append(part);
    const { value } = part.querySelector("#f-reason, #f-feedback");
    part.hidden = !newPart && part !== focused && !(isDecided && value);
    // A question can be sent by whom the bar offers it.
    if (part.id) part.querySelector("button").hidden = !newPart;
    else if (newPart && bar.dataset.intent) newBar.dataset.intent = bar.dataset.intent;
  }
}

/** Of leaving_rows.js, which no first load waits for. */
let showLeaving = (_, change) => change();

document.addEventListener(
  REFRESHED,
  async () => {
    ({ showLeaving } = await import("./leaving_rows.js"));
  },
  { once: true },
);

/** Swap an element in a way of its own and return false, or return true for htmx to swap it. */
function mayReplace(target, element) {
  const isSameMode = target.dataset.mode === element.dataset.mode;
  switch (target.dataset.live) {
    case "keyed":
      if (target.id === "rows") {
        holdPlaces(target, element);
        showLeaving(target, () => mergeChildren(target, element));
      } else mergeChildren(target, element);
      return false;
    case "form":
      if (isSameMode) {
        if (isUndecided(element)) unlock(document.querySelector("#decision"));
        return false;
      }
      if (target.id === "bar") {
        guardPointer();
        keepTexts(target, element);
        return true;
      }
      if (!isUnsent()) return true;
      lock(document.querySelector("#decision"));
      return false;
    case "banner":
      // Show why an answer was rejected until the state changes.
      return !("refused" in target.dataset && isSameMode);
    default:
      keepOpened(target, element);
      return true;
  }
}

/** Return whether a response is about the request on screen: another one may be open by now. */
function isForThisPage({ verb, path, elt }) {
  // Parts of a request that load more of it have left the page with their request.
  if (verb === "get") return elt === document.body ? path === main.dataset.url : elt.isConnected;
  const [, id] = path.match(/\/interrupts\/([0-9a-f-]{36})\//) ?? [];
  return !id || id === main.dataset.interrupt;
}

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (!isForThisPage(event.detail.requestConfig)) event.preventDefault();
});

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  const element = fragment.firstElementChild;
  const html = htmlOf(element);
  const isOther = serverHtml.get(target.id) !== html;
  // Before a part with the focus is moved to its new place.
  focusPlace = isOther ? placeOfFocus(target) : undefined;
  event.detail.shouldSwap = isOther && mayReplace(target, element);
  if (event.detail.shouldSwap) serverHtml.set(target.id, html);
  else focusPlace = undefined;
});

/** Where the focus was in an element that is swapped, and how to find it again. */
let focusPlace;

/** Return what an element has in common with the one that replaces it. */
function marksOf(element) {
  const { id, tagName, dataset, name, value, href } = element;
  if (id) return id;
  if (dataset.key || name || href) return [tagName, dataset.key, name, value, href].join(" ");
  return tagName + element.textContent;
}

function placeOfFocus(root) {
  const focused = document.activeElement;
  if (!root.contains(focused) || focused === root) return undefined;
  return { id: root.id, marks: marksOf(focused) };
}

/** Focus the same control again, or else the pane: never another button, which Enter would press. */
function restoreFocus({ id, marks }) {
  if (document.activeElement !== document.body) return;
  const root = document.getElementById(id);
  const same = [...(root?.querySelectorAll("*") ?? [])].find((each) => marksOf(each) === marks);
  same?.focus({ preventScroll: true });
  if (document.activeElement !== document.body) return;
  const pane = root?.closest("#list") ? ".list-scroll" : ".detail-scroll";
  document.querySelector(pane)?.focus({ preventScroll: true });
}

document.addEventListener("htmx:oobAfterSwap", () => {
  if (focusPlace) restoreFocus(focusPlace);
  focusPlace = undefined;
});
