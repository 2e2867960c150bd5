// The page's root element, language and texts.

export const main = document.querySelector("#main");

/** The texts of the scripts in the reader's language. */
export const messages = JSON.parse(main.dataset.messages);

export const { lang } = document.documentElement;

/** Replace each `{name}` in a text by its value. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
