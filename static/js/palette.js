// The command palette: the page's own links and buttons, tools and agents to filter by, and what the
// server finds: requests, runs, agents, people and groups. A combobox with a listbox (ARIA Authoring
// Practices). It decides nothing: for a decision it moves the focus to the button.

import { currentView } from "./input_owner.js";
import { areKeysOff } from "./keyboard.js";
import { OPENED } from "./navigation.js";

const dialog = document.querySelector("#palette");
const field = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const status = dialog.querySelector("[role=status]");
const MOST_OPTIONS = 60;
/** As long as people who type need for one key. */
const TYPING_MS = 80;

/** Each with a label, a group, what is beside it, and what it does. */
let commands = [];
/** Those of the last answer of the server. */
let results = [];
let matchingCommands = [];
/** The request that the commands are about. */
let view;
/** Aborted when something else is typed. */
let searching;
let timer;

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
  for (const button of document.querySelectorAll("#rail button:not([hidden], [data-palette])")) {
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

/** Its own name has one of the words at least: that of its group would match all of them. */
function matches(command, words) {
  const label = command.label.toLowerCase();
  const text = `${label} ${command.group.toLowerCase()}`;
  const isNamed = !words.length || words.some((word) => label.includes(word));
  return isNamed && words.every((word) => text.includes(word));
}

function elementOf(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

function optionOf({ label, about }, index) {
  const option = document.createElement("div");
  option.role = "option";
  option.id = `command-${index}`;
  option.append(elementOf("bdi", "", label));
  if (about) option.append(elementOf("span", "quiet", about));
  return option;
}

/** Return a group of options under its heading. */
function groupOf(name) {
  const group = document.createElement("div");
  group.role = "group";
  group.ariaLabel = name;
  const heading = elementOf("div", "palette-title", name);
  heading.ariaHidden = "true";
  group.append(heading);
  return group;
}

function render(place = 0) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  matchingCommands = commands.filter((command) => matches(command, words)).slice(0, MOST_OPTIONS);
  matchingCommands.push(...results);
  const groups = new Map();
  for (const [index, command] of matchingCommands.entries()) {
    if (!groups.has(command.group)) groups.set(command.group, groupOf(command.group));
    groups.get(command.group).append(optionOf(command, index));
  }
  list.replaceChildren(...groups.values());
  choose(Math.max(0, place));
  status.textContent = matchingCommands.length || searching ? "" : dialog.dataset.nothing;
}

/** Ask the server for what has the words, once somebody pauses. */
function search() {
  searching?.abort();
  clearTimeout(timer);
  results = [];
  searching = null;
  const text = field.value.trim();
  if (!text) return;
  searching = new AbortController();
  const { signal } = searching;
  timer = setTimeout(async () => {
    const address = `${dialog.dataset.search}?${new URLSearchParams({ q: text })}`;
    let groups = [];
    try {
      const response = await fetch(address, { signal });
      if (response.ok) ({ groups } = await response.json());
    } catch {
      if (signal.aborted) return;
    }
    results = groups.flatMap((group) =>
      group.results.map(({ label, about, url }) => ({
        group: group.label,
        label,
        about,
        run: () => location.assign(url),
      })),
    );
    searching = null;
    // They come below what is there, and what is chosen stays chosen.
    render(chosen());
  }, TYPING_MS);
}

function options() {
  return [...list.querySelectorAll("[role=option]")];
}

function choose(index) {
  const all = options();
  all.forEach((option, place) => (option.ariaSelected = String(place === index)));
  const option = all[index];
  if (option) {
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else field.removeAttribute("aria-activedescendant");
}

function chosen() {
  return options().findIndex((option) => option.ariaSelected === "true");
}

function run(index) {
  const command = matchingCommands[index];
  if (!command || view !== currentView()) return;
  dialog.close();
  command.run();
}

field.addEventListener("input", () => {
  search();
  render();
});
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
  if (option) run(options().indexOf(option));
});

/** Show the commands of the page that match what has been typed. */
export function fill() {
  view = currentView();
  commands = collect();
  search();
  render();
}

document.addEventListener(OPENED, () => {
  if (dialog.open) fill();
});
