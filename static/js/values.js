// Values of a request: Edit shows the field of a value in its place, and `e` finds the one to edit.

import { isChanged } from "./decision_form.js";

const INPUT =
  ":is(input, textarea, select):enabled:not([type=hidden], [type=checkbox][name=opened])";

/** Show the field of a value, and focus it with its text selected. */
function edit(value) {
  value.querySelector("[name=editing]").disabled = false;
  value.querySelector(".value-read").hidden = true;
  value.querySelector(".value-form").hidden = false;
  const field = value.querySelector(`.value-form ${INPUT}`);
  field?.focus();
  if (field?.matches("input")) field.select();
}

/** Show all fields, also those of values that the agent left out. */
function editAll(form) {
  form.querySelector("[data-editing-all]").disabled = false;
  for (const hidden of form.querySelectorAll(".value-form")) hidden.hidden = false;
  for (const read of form.querySelectorAll(".value-form")) {
    const reading = read.parentElement.querySelector(":scope > .value-read");
    if (reading) reading.hidden = true;
    const value = read.closest("[data-value]");
    if (value) value.hidden = false;
  }
  form.querySelector(`.value-form ${INPUT}`)?.focus();
}

/** Return the button that shows the field of a value which is only to be read, undefined without one. */
function editButton(field) {
  return field.closest("[data-value]")?.querySelector("[data-edit]");
}

function isReachable(field) {
  return field.checkVisibility() || Boolean(editButton(field)?.checkVisibility());
}

function isEmptyAndRequired(field, fields) {
  if (!field.matches("[type=radio], [type=checkbox]"))
    return field.ariaRequired === "true" && !field.value;
  const isChosen = fields.some(({ name, checked }) => name === field.name && checked);
  return field.closest("[data-required]") !== null && !isChosen;
}

/** Return the field that is most likely meant: the wrong or changed one, else a gap, else a number. */
function likelyField() {
  const selector = `#answer ${INPUT}:not(.code-diff-split, [data-null-for])`;
  const fields = [...document.querySelectorAll(selector)].filter(isReachable);
  const changed = fields.filter(isChanged);
  return (
    fields.find((field) => field.ariaInvalid === "true") ??
    (changed.length === 1 ? changed[0] : undefined) ??
    fields.find((field) => isEmptyAndRequired(field, fields)) ??
    fields.find((field) => field.matches("input[inputmode]")) ??
    fields[0]
  );
}

/** Edit the field that is most likely meant; typing replaces a number. */
export function startEditing() {
  const field = likelyField();
  if (!field) return document.querySelector("#answer [data-edit]")?.click();
  if (!field.checkVisibility()) editButton(field).click();
  field.focus();
  field.scrollIntoView({ block: "nearest" });
  if (field.matches("input[inputmode]")) field.select();
}

document.addEventListener(
  "click",
  (event) => {
    const one = event.target.closest("[data-edit]");
    const all = event.target.closest("[data-edit-all]");
    if (!one && !all) return;
    // The server renders the fields that are loaded on demand: the button sends the form for them.
    const area = one?.closest("[data-value]") ?? all.closest("fieldset");
    if (area.querySelector("[name$='@later']")) return;
    event.preventDefault();
    if (one) return edit(one.closest("[data-value]"));
    for (const tab of all.parentElement.children) {
      tab.setAttribute("aria-pressed", String(tab === all));
    }
    editAll(all.closest("fieldset"));
  },
  true,
);
