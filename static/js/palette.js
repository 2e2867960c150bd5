// The command palette: the page's own links and buttons, and tools and agents to filter by.
// A combobox with a listbox (ARIA Authoring Practices). It decides nothing: for a decision it moves
// the focus to the button.

import { currentView } from "./input_owner.js";
import { areKeysOff } from "./keyboard.js";
import { OPENED } from "./navigation.js";

const dialog = document.querySelector("#palette");
const field = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const status = dialog.querySelector("[role=status]");
const MOST_OPTIONS = 60;

/** Each with a label, a group, and what it does. */
let commands = [];
let matchingCommands = [];
/** The request that the commands are about. */
let view;

function textOf(element) {
  const copy = element.cloneNode(true);
  for (const part of copy.querySelectorAll(".vh, .count, kbd, svg, .av, .quiet")) part.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}

function isUsable(element) {
  return !element.disabled && !element.hidden;
}

/** Return the commands of the page: what can be done now, places, and filters. */
function collect() {
  const result = [];
  const add = (group, label, run) =>
    label && result.push({ group: dialog.dataset[group], label, run });
  const click = (element) => () => element.click();
  const isVisible = (element) => isUsable(element) && element.checkVisibility();
  for (const button of document.querySelectorAll("#decide-buttons button[aria-keyshortcuts]")) {
    if (isVisible(button))
      add("request", button.querySelector("span").textContent.trim(), startOf(button));
  }
  for (const element of document.querySelectorAll(
    "#head [data-key], #head [data-action], #bar [data-key]",
  )) {
    if (isVisible(element)) add("request", textOf(element), click(element));
  }
  for (const link of document.querySelectorAll("#rail a[href]"))
    add("go", textOf(link), click(link));
  for (const link of dialog.querySelectorAll(".palette-pages a"))
    add("go", textOf(link), click(link));
  for (const name of ["tool", "agent", "reason"]) {
    for (const option of document.querySelectorAll(
      `#filter-${name} option[value]:not([value=""])`,
    )) {
      const address = `${dialog.dataset.list}?${new URLSearchParams({ [name]: option.value })}`;
      add(name, option.textContent.trim(), () => location.assign(address));
    }
  }
  for (const button of document.querySelectorAll("#rail button:not([hidden])")) {
    add("more", textOf(button), click(button));
  }
  return result;
}

/** One key never decides: focus the button, or press the key that opens the mode of rejecting. */
function startOf(button) {
  const key = button.getAttribute("aria-keyshortcuts");
  return () => {
    if (areKeysOff()) button.focus();
    else document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    if (document.activeElement === document.body) button.focus();
  };
}

function matches(command, words) {
  const text = `${command.label} ${command.group}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function render() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  matchingCommands = commands.filter((command) => matches(command, words)).slice(0, MOST_OPTIONS);
  const options = matchingCommands.map((command, index) => {
    const option = document.createElement("li");
    option.role = "option";
    option.id = `command-${index}`;
    const label = document.createElement("bdi");
    label.textContent = command.label;
    const group = document.createElement("span");
    group.className = "quiet";
    group.textContent = command.group;
    option.append(label, group);
    return option;
  });
  list.replaceChildren(...options);
  choose(0);
  status.textContent = matchingCommands.length ? "" : dialog.dataset.nothing;
}

function choose(index) {
  [...list.children].forEach((option, place) => (option.ariaSelected = String(place === index)));
  const option = list.children[index];
  if (option) {
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else field.removeAttribute("aria-activedescendant");
}

function chosen() {
  return [...list.children].findIndex((option) => option.ariaSelected === "true");
}

function run(index) {
  const command = matchingCommands[index];
  if (!command || view !== currentView()) return;
  dialog.close();
  command.run();
}

field.addEventListener("input", render);
field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { length } = matchingCommands;
  if (step && length) choose((chosen() + step + length) % length);
  else if (event.key === "Enter" && !event.isComposing) run(chosen());
  else return;
  event.preventDefault();
});
list.addEventListener("click", ({ target }) => {
  const option = target.closest("[role=option]");
  if (option) run([...list.children].indexOf(option));
});

/** Show the commands of the page that match what has been typed. */
export function fill() {
  view = currentView();
  commands = collect();
  render();
}

document.addEventListener(OPENED, () => {
  if (dialog.open) fill();
});
