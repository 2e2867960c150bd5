// The service worker: shows push messages, and opens the page of the one that is clicked.
// It caches nothing and answers no requests of pages. Served as /push-worker.js.

const DEFAULTS = { title: "Signoff", body: "", url: "/", tag: "signoff" };

/** Return the message; browsers require that something is shown for each one. */
function messageOf(event) {
  try {
    return { ...DEFAULTS, ...event.data.json() };
  } catch {
    return DEFAULTS;
  }
}

/** Return the URL of a page of this site, which is the inbox for any other URL. */
function pageOf(text) {
  const { origin } = self.location;
  const url = URL.parse ? URL.parse(text, origin) : new URL(text, origin);
  return url?.origin === origin ? url.href : `${origin}/`;
}

async function show(event) {
  const { title, body, url, tag } = messageOf(event);
  await self.registration.showNotification(title, {
    body,
    tag,
    // A reminder replaces the message about the request, and is heard again.
    renotify: true,
    data: { url: pageOf(url) },
  });
}

async function open(url) {
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const { pathname } = new URL(url);
  const tab = tabs.find((client) => new URL(client.url).pathname === pathname);
  if (tab) await tab.focus();
  else await self.clients.openWindow(url);
}

/** Post the new subscription of this browser, if the person is still signed in. */
async function renew({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options;
  const subscription =
    newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  const cookie =
    (await self.cookieStore?.get("__Host-csrftoken")) ?? (await self.cookieStore?.get("csrftoken"));
  if (!subscription || !cookie) return;
  const { endpoint, keys } = subscription.toJSON();
  const body = { endpoint, keys };
  if (oldSubscription) body.former_endpoint = oldSubscription.endpoint;
  await fetch("/api/me/channels", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": cookie.value },
    body: JSON.stringify(body),
  });
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("push", (event) => event.waitUntil(show(event)));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(pageOf(event.notification.data?.url)));
});
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event)));
