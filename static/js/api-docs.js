// The page of the API: Swagger UI in the theme of the system, calling as whoever is signed in.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

function csrfToken() {
  return document.cookie.match(/(?:^|; )(?:__Host-)?csrftoken=([^;]*)/)?.[1] ?? "";
}

function asWhoIsSignedIn(request) {
  // The token is for this site alone, and a key needs none.
  if (new URL(request.url, location.href).origin === location.origin) {
    request.headers["X-CSRFToken"] = csrfToken();
  }
  return request;
}

const viewer = document.getElementById("api");

async function showViewer() {
  const response = await fetch(viewer.dataset.schema, { headers: { Accept: "application/json" } });
  const spec = await response.json();
  // Before the viewer draws: it draws only the operations that are on screen, and measures where.
  document.getElementById("api-operations").remove();
  viewer.hidden = false;
  scrollTo(0, 0);
  SwaggerUIBundle({
    dom_id: "#api",
    spec,
    presets: [SwaggerUIBundle.presets.apis],
    deepLinking: true,
    displayOperationId: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null, // else the schema would be sent to a site of others
    persistAuthorization: false, // a key is nothing for localStorage
    requestInterceptor: asWhoIsSignedIn,
  });
}

showViewer();
