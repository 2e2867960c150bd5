// The page of a rule: renews the sentence and the strip while the form changes, and saves the rule in the draft.

import { main, messages } from "./page.js";
import { postHeaders } from "./post.js";
import { showTimes } from "./times.js";

const RENEW_MS = 150;

const form = document.querySelector("#rule");
const saveButton = form.querySelector("#save");
let timer;
/** What is sent next: the fields that buttons add, and whether the rule is saved. */
let next;
/** One request at a time: each save returns the digest that the next one has to name. */
let sending;
/** After a conflict, saving again is for the person to decide. */
let savesItself = true;
let usesPointer = false;
/** While the form is sent, nothing in it is replaced. */
let isLeaving = false;

function schedule({ button, saves = false }) {
  next ??= { buttons: [], saves: false };
  if (button) next.buttons.push(button);
  next.saves ||= saves;
  clearTimeout(timer);
  timer = setTimeout(send, button ? 0 : RENEW_MS);
}

function send() {
  clearTimeout(timer);
  if (!next || sending) return sending;
  sending = post(next).finally(() => {
    sending = undefined;
    if (next) send();
  });
  next = undefined;
  return sending;
}

async function post(request) {
  const body = new FormData(form);
  for (const [name, value] of request.buttons) body.set(name, value);
  if (request.saves && savesItself) body.set("save", "itself");
  const options = { method: "POST", body, headers: postHeaders(), keepalive: true };
  try {
    const response = await fetch(form.dataset.renew, options);
    if (!response.ok) throw new Error(`status ${response.status}`);
    show(new DOMParser().parseFromString(await response.text(), "text/html"), request);
  } catch {
    form.querySelector("#saved").textContent = messages.noConnection;
    saveButton.hidden = false;
  }
}

/** Take over the parts of a response; what was changed meanwhile is not replaced by its older state. */
function show(response, request) {
  const isStale = isLeaving || Boolean(next);
  if (next) next.buttons.unshift(...request.buttons);
  for (const part of response.querySelectorAll("[data-part]")) {
    const isState = part.matches("input");
    if (part.id === "saved" && !request.saves) continue;
    if (!isStale || isState || part.id === "saved") replace(document.getElementById(part.id), part);
  }
  const { url } = form.querySelector("#rule-id").dataset;
  if (url && main.dataset.url !== url) {
    main.dataset.url = url;
    history.replaceState(history.state, "", url);
  }
  if (form.querySelector("#saved[data-conflict]")) savesItself = saveButton.hidden = false;
  prepare();
  const [name, side] = request.buttons.at(-1) ?? [];
  if (name === "add" && !isStale) {
    const chips = form.querySelectorAll(`[id^="f-${side}-"][id$="-fact"]`);
    chips[chips.length - 1]?.click();
  }
}

/** Replace an element, except for the open menu or the limit in it, which somebody is using. */
function replace(element, newElement) {
  const focused = element.contains(document.activeElement) ? document.activeElement : undefined;
  const used = element.querySelector(":popover-open, #limit:focus");
  const newUsed = used && newElement.querySelector(`#${CSS.escape(used.id)}`);
  if (newUsed) replaceAround(element, newElement, used, newUsed);
  else element.replaceWith(newElement);
  if (newUsed?.id === "limit") {
    for (const { name, value } of newUsed.attributes)
      if (name !== "hidden") used.setAttribute(name, value);
    used.value = newUsed.value;
  }
  if (focused?.id && !focused.isConnected) {
    document.getElementById(focused.id)?.focus({ preventScroll: true });
  }
}

function replaceAround(element, newElement, used, newUsed) {
  if (element === used) return;
  if (element.matches(".part")) {
    // The chip stays: the browser knows it as the one that opened the menu.
    const [chip, newChip] = [element, newElement].map((part) => part.querySelector(".part-chip"));
    chip.replaceChildren(...newChip.childNodes);
    chip.ariaInvalid = newChip.ariaInvalid;
    return;
  }
  const path = [...element.childNodes].find((node) => node.contains(used));
  const nodes = [...newElement.childNodes];
  const place = nodes.findIndex((node) => node.contains(newUsed));
  for (const node of Array.from(element.childNodes)) if (node !== path) node.remove();
  path.before(...nodes.slice(0, place));
  path.after(...nodes.slice(place + 1));
  replaceAround(path, nodes[place], used, newUsed);
}

/** Show what only works with this script, and say what the limit does. */
function prepare() {
  for (const field of form.querySelectorAll("[data-filter], #limit")) field.hidden = false;
  const limit = form.querySelector("#limit");
  const counts = form.querySelector(".strip-counts")?.textContent.replace(/\s+/g, " ").trim();
  if (limit) limit.ariaValueText = `${amountOf(limit)}: ${counts}`;
  showTimes();
}

// -- the limit

function amountOf({ value, dataset }) {
  if (!("logarithmic" in dataset)) return Number(value);
  const [low, high] = [dataset.low, dataset.high].map((amount) => Math.log10(Number(amount)));
  return Number((10 ** (low + (value / 100) * (high - low))).toPrecision(2));
}

/** Write the limit into its field, and draw it before the server has counted. */
function moveLimit(limit) {
  const { low, high, top, bottom, field: name } = limit.dataset;
  const amount = amountOf(limit);
  const field = form.elements[name];
  // Of a range the limit is the upper end.
  field.value = field.value.replace(/(\s*)[^,]*$/, `$1${amount}`);
  const share = "logarithmic" in limit.dataset ? limit.value / 100 : (amount - low) / (high - low);
  const y = bottom - Math.min(1, share) * (bottom - top);
  const plot = form.querySelector("#plot");
  const line = plot.querySelector(".limit");
  line.setAttribute("d", line.getAttribute("d").replace(/ .*h/, ` ${y}h`));
  const label = plot.querySelector(".limit-name");
  label.setAttribute("y", y);
  label.textContent = amount;
  const zone = plot.querySelector(".zone");
  const { above } = plot.dataset;
  zone.setAttribute("y", above ?? y);
  zone.setAttribute("height", above ? y - above : bottom - y);
}

// -- menus

function chipOf(menu) {
  return document.getElementById(menu.id.replace("menu-", "f-"));
}

/** Close the menu of a field; the focus goes back to its chip. */
function closeMenu(field) {
  const menu = field.closest(":popover-open");
  if (!menu) return;
  menu.hidePopover();
  chipOf(menu)?.focus();
}

// These events do not bubble.
document.addEventListener(
  "beforetoggle",
  ({ target: menu, newState }) => {
    if (newState !== "open" || !menu.matches(".part-menu")) return;
    const { left, bottom } = chipOf(menu).getBoundingClientRect();
    const most = document.documentElement.clientWidth - 336;
    menu.style.left = `${Math.max(8, Math.min(left, most))}px`;
    menu.style.top = `${bottom + 6}px`;
    menu.style.maxHeight = `${Math.max(160, innerHeight - bottom - 24)}px`;
  },
  true,
);
document.addEventListener(
  "toggle",
  ({ target: menu, newState }) => {
    if (!menu.matches?.(".part-menu")) return;
    if (newState === "open") {
      const chosen = menu.querySelector("input:checked:not([type=checkbox])");
      const first = menu.querySelector("input[data-filter]") ?? chosen;
      (first ?? menu.querySelector("input, select, textarea, button"))?.focus();
    } else if (document.activeElement === document.body) {
      chipOf(menu)?.focus();
    }
  },
  true,
);

function filter(field) {
  const text = field.value.trim().toLowerCase();
  for (const item of field.closest(".part-menu").querySelectorAll("label.menu-item")) {
    item.hidden = !item.textContent.toLowerCase().includes(text);
  }
}

// -- events

form.addEventListener("input", ({ target }) => {
  if (target.matches("[data-filter]")) return filter(target);
  if (target.id === "limit") moveLimit(target);
  schedule({});
});

form.addEventListener("change", ({ target }) => {
  if (target.matches("[data-filter]")) return;
  if (target.name.endsWith("-choice")) form.elements[target.name.replace("-choice", "")].value = "";
  schedule({ saves: true });
  if (target.type === "radio" && usesPointer) closeMenu(target);
});

form.addEventListener("keydown", (event) => {
  const { key, target } = event;
  usesPointer = false;
  if (key !== "Enter" || !target.matches(".part-menu :is(input, select)")) return;
  event.preventDefault();
  if (target.matches("[data-filter]")) {
    target.closest(".part-menu").querySelector("label.menu-item:not([hidden]) input")?.click();
  }
  closeMenu(target);
});
form.addEventListener("pointerdown", () => {
  usesPointer = true;
});

form.addEventListener("submit", async (event) => {
  const { submitter } = event;
  if (submitter.name === "save") {
    if (!next && !sending) return;
    event.preventDefault();
    // The form has to name the digest that the request under way returns.
    clearTimeout(timer);
    next = undefined;
    isLeaving = true;
    await sending;
    // A form that is being submitted ignores this call.
    setTimeout(() => form.requestSubmit(submitter));
    return;
  }
  event.preventDefault();
  closeMenu(submitter);
  schedule({ button: [submitter.name, submitter.value], saves: submitter.name !== "add" });
});

// A rule that was refused, or is in conflict, is saved by its button.
savesItself = saveButton.hidden = !form.querySelector("[role=alert]");
prepare();
