// Posts to the server: the CSRF token, and errors beside the buttons.

import { messages } from "./page.js";

const errorTexts = {
  0: messages.noConnection,
  401: messages.mustSignIn,
  403: messages.notAllowed,
  404: messages.notThere,
};

/** Show an error beside the buttons; 0 stands for a lost connection. */
export function report(status) {
  const problem = document.querySelector("#problem");
  if (!problem) return;
  problem.textContent = errorTexts[status] ?? messages.broken;
  problem.hidden = false;
}

/** Return the token of the cookie: a form's own token expires when its reader signs in again. */
export function csrfToken() {
  return document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? "";
}

export function postHeaders() {
  return { "HX-Request": "true", "X-CSRFToken": csrfToken() };
}
