// Values of a request: Edit shows the field of a value in its place.

const INPUT = ":is(input, textarea, select):enabled:not([type=hidden], [type=checkbox][name=opened])";

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
  }
  form.querySelector(`.value-form ${INPUT}`)?.focus();
}

/** Edit the first number, or else the first value; return false if none can be edited. */
export function editFirst() {
  const buttons = [...document.querySelectorAll("#answer [data-edit]")].filter((each) =>
    each.checkVisibility(),
  );
  const isNumber = (each) => each.closest("[data-value]").querySelector("input[inputmode]");
  const button = buttons.find(isNumber) ?? buttons[0];
  button?.click();
  return Boolean(button);
}

document.addEventListener(
  "click",
  (event) => {
    const one = event.target.closest("[data-edit]");
    const all = event.target.closest("[data-edit-all]");
    if (!one && !all) return;
    event.preventDefault();
    if (one) return edit(one.closest("[data-value]"));
    for (const tab of all.parentElement.children) {
      tab.setAttribute("aria-pressed", String(tab === all));
    }
    editAll(all.closest("fieldset"));
  },
  true,
);
