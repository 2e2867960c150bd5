// Posts to the server: the CSRF token, and errors beside the buttons.

import { words } from "./page.js";

const errorTexts = {
  0: words.noConnection,
  401: words.mustSignIn,
  403: words.notAllowed,
  404: words.notThere,
};

/** Show an error beside the buttons; 0 stands for a lost connection. */
export function report(status) {
  const problem = document.querySelector("#problem");
  if (!problem) return;
  problem.textContent = errorTexts[status] ?? words.broken;
  problem.hidden = false;
}

/** Return the token of the cookie: a form's own token expires when its reader signs in again. */
export function csrfToken() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
}

export function postHeaders() {
  return { "HX-Request": "true", "X-CSRFToken": csrfToken() };
}
