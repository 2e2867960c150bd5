// Completes names after @ in comments. The list is a listbox that the text field refers to.

/** The people of the team, by the address that lists them. */
const teams = new Map();
const MOST_OPTIONS = 8;
let isUsed = false;

async function peopleAt(address) {
  if (!teams.has(address)) {
    const response = await fetch(address);
    teams.set(address, response.ok ? (await response.json()).people : []);
  }
  return teams.get(address);
}

/** Return the text after an @ before the caret, or null. */
function typedName(field) {
  const before = field.value.slice(0, field.selectionStart);
  return before.match(/(?:^|[^\w@.+-])@([\w.+-]*)$/)?.[1] ?? null;
}

function listOf(field) {
  let list = document.getElementById("mention-list");
  if (!list) {
    list = document.createElement("ul");
    list.id = "mention-list";
    list.className = "mention-list";
    list.role = "listbox";
    list.ariaLabel = field.dataset.mentionsLabel;
    list.hidden = true;
  }
  if (list.previousElementSibling !== field) field.after(list);
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-autocomplete", "list");
  return list;
}

function close(field) {
  const list = listOf(field);
  list.hidden = true;
  list.replaceChildren();
  field.removeAttribute("aria-activedescendant");
}

async function suggest(field) {
  const name = typedName(field);
  if (name === null) {
    close(field);
    return;
  }
  const people = await peopleAt(field.dataset.mentions);
  if (typedName(field) !== name) return;
  const start = name.toLowerCase();
  const isMatch = (person) =>
    person.username.toLowerCase().startsWith(start) ||
    person.name
      .toLowerCase()
      .split(" ")
      .some((word) => word.startsWith(start));
  const options = people.filter(isMatch).slice(0, MOST_OPTIONS).map(optionOf);
  const list = listOf(field);
  list.replaceChildren(...options);
  list.hidden = options.length === 0;
  if (options.length) choose(field, options[0]);
  else field.removeAttribute("aria-activedescendant");
}

function optionOf({ username, name }, index) {
  const option = document.createElement("li");
  option.id = `mention-${index}`;
  option.role = "option";
  option.dataset.username = username;
  const label = document.createElement("bdi");
  label.textContent = name;
  const address = document.createElement("span");
  address.className = "quiet";
  address.textContent = `@${username}`;
  option.append(label, address);
  return option;
}

function choose(field, option) {
  for (const other of option.parentElement.children) other.ariaSelected = String(other === option);
  field.setAttribute("aria-activedescendant", option.id);
}

function insert(field, option) {
  const caret = field.selectionStart;
  const start = caret - typedName(field).length;
  field.setRangeText(`${option.dataset.username} `, start, caret, "end");
  close(field);
}

function onKey(event) {
  const field = event.target;
  const list = listOf(field);
  if (list.hidden || event.ctrlKey || event.metaKey || event.isComposing) return;
  const options = [...list.children];
  const index = options.findIndex((option) => option.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(field, options[(index + step + options.length) % options.length]);
  else if (event.key === "Enter" || event.key === "Tab") insert(field, options[index]);
  else if (event.key === "Escape") close(field);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Complete names in all fields with `data-mentions`, also in those that are swapped in later. */
export function completeMentions() {
  if (isUsed) return;
  isUsed = true;
  const isField = ({ target }) => target.matches?.("[data-mentions]");
  document.addEventListener("input", (event) => isField(event) && suggest(event.target));
  document.addEventListener("keydown", (event) => isField(event) && onKey(event), {
    capture: true,
  });
  document.addEventListener("focusout", (event) => isField(event) && close(event.target));
  // The field keeps the focus.
  document.addEventListener("pointerdown", (event) => {
    const option = event.target.closest("#mention-list [role=option]");
    if (!option) return;
    event.preventDefault();
    insert(document.querySelector("[aria-controls=mention-list]"), option);
  });
  // A name may have been typed while this script was loaded.
  if (isField({ target: document.activeElement })) suggest(document.activeElement);
}
