// A page for the scripts of static/js: the few parts of the DOM that they use.

const elements = new Map();

/** Put elements on the page by the selector that a script finds them with. */
export function show(found) {
  elements.clear();
  elements.set("#main", main);
  for (const [selector, element] of Object.entries(found)) elements.set(selector, element);
}

export class Element {
  constructor(properties = {}) {
    this.dataset = {};
    this.attributes = new Set();
    this.children = [];
    this.textContent = "";
    Object.assign(this, properties);
  }

  toggleAttribute(name, isSet) {
    this.attributes[isSet ? "add" : "delete"](name);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  querySelector(selector) {
    return this.parts?.[selector] ?? null;
  }

  querySelectorAll() {
    return this.elements.filter((field) => "locked" in field.dataset);
  }

  matches(selector) {
    return this.selectors?.includes(selector) ?? false;
  }
}

const messages = {
  now: "now",
  justNow: "just now",
  ago: "{time} ago",
  in: "in {time}",
  left: "{time} left",
  units: { d: "{count} d", h: "{count} h", min: "{count} min", s: "{count} s" },
  live: "Live",
  online: "{count} online",
  oneHere: "{names} is here",
  manyHere: "{names} are here",
  noConnection: "No connection.",
  mustSignIn: "Sign in.",
  notAllowed: "Not allowed.",
  notThere: "Not found.",
  broken: "Something went wrong.",
  undoTooLate: "Too late.",
  nothingToUndo: "Nothing to undo.",
  notUndone: "Not undone.",
};
const main = new Element({ dataset: { messages: JSON.stringify(messages) } });

globalThis.document = {
  cookie: `theme=dark; csrftoken=a-token; zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}`,
  documentElement: { lang: "en", dataset: {}, addEventListener() {}, toggleAttribute() {} },
  activeElement: new Element({ closest: () => null }),
  addEventListener() {},
  createElement: () => new Element(),
  querySelector: (selector) => elements.get(selector) ?? null,
  querySelectorAll: (selector) => [elements.get(selector) ?? []].flat(),
};
document.body = new Element({ addEventListener() {} });
globalThis.addEventListener = () => {};
globalThis.window = globalThis;
// Timers of the page would keep a test process alive.
globalThis.setInterval = () => 0;
globalThis.localStorage = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.sessionStorage = globalThis.localStorage;
globalThis.location = { href: "http://localhost/", pathname: "/" };
show({});
