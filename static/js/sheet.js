// The choices in the dialog of a link with `data-sheet`, filtered by what is typed.

import { guardPointer } from "./input_owner.js";
import { fill as fillText } from "./page.js";

const dialog = document.querySelector("#sheet");
const title = dialog.querySelector("#sheet-title");
const field = dialog.querySelector("#sheet-field");
const hint = dialog.querySelector("#sheet-hint");
const rest = dialog.querySelector("#sheet-rest");

/** Read the page of a link, and show its choices; Enter may have been pressed before. */
export async function fill(link, signal) {
  const response = await fetch(link.href, { headers: { "HX-Request": "true" }, signal });
  if (!response.ok) throw new Error(`status ${response.status}`);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  signal.throwIfAborted();
  const part = document.adoptNode(page.querySelector("#sheet-part"));
  const heading = part.querySelector("#sheet-title");
  title.textContent = heading.textContent;
  heading.remove();
  rest.replaceChildren(...part.childNodes);
  rest.ariaBusy = null;
  guardPointer();
  filter();
  if ("entered" in field.dataset) typedChoice()?.click();
}

function choices() {
  return [...rest.querySelectorAll(".choice")];
}

function nameOf(choice) {
  return choice.querySelector(".choice-name").textContent.replace(/\s+/g, " ").trim();
}

/** Return the words of a text without case and accents. */
function wordsOf(text) {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Return the choices in whose name each word that was typed begins a word. */
function matches() {
  const typed = wordsOf(field.value);
  return choices().filter((choice) => {
    const words = wordsOf(nameOf(choice));
    return typed.every((start) => words.some((word) => word.startsWith(start)));
  });
}

/** Return the choice that was typed; undefined if it may be one of several, or for a single letter. */
function typedChoice() {
  const matching = matches();
  const typed = wordsOf(field.value).join(" ");
  const exact = matching.filter((choice) => wordsOf(nameOf(choice)).join(" ") === typed);
  const [only, ...others] = exact.length ? exact : matching;
  return typed.length > 1 && !others.length ? only : undefined;
}

function filter() {
  const matching = matches();
  for (const choice of choices()) choice.hidden = !matching.includes(choice);
  const { nothing, several, chooses } = dialog.dataset;
  const choice = typedChoice();
  if (field.value.trim().length < 2) hint.textContent = "";
  else if (choice) hint.textContent = fillText(chooses, { name: nameOf(choice) });
  else hint.textContent = matching.length ? several : nothing;
}

field.addEventListener("input", filter);

dialog.addEventListener("keydown", (event) => {
  const { key, target, isComposing, repeat } = event;
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const places = [field, ...choices().filter((choice) => !choice.hidden)];
  const place = places.indexOf(target);
  if (step && place >= 0) {
    event.preventDefault();
    places[place + step]?.focus();
  } else if (key === "Enter" && target === field && !isComposing && !repeat) typedChoice()?.click();
});
