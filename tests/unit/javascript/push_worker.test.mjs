import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const code = readFileSync(new URL("push_worker.js", import.meta.url), "utf8");
const ORIGIN = "https://signoff.example.com";

/** Run the service worker with a browser of tests, and return what it did there. */
function startWorker({ tabs = [], cookie } = {}) {
  const handlers = {};
  const done = { shown: [], focused: [], opened: [], posted: [] };
  const client = (url) => ({ url, focus: async () => done.focused.push(url) });
  const self = {
    location: { origin: ORIGIN },
    addEventListener: (name, handler) => (handlers[name] = handler),
    skipWaiting: () => {},
    registration: {
      showNotification: async (title, options) => done.shown.push({ title, ...options }),
      pushManager: { subscribe: async () => subscription("https://push.example.com/again") },
    },
    clients: {
      matchAll: async () => tabs.map(client),
      openWindow: async (url) => done.opened.push(url),
    },
    cookieStore: { get: async () => cookie && { value: cookie } },
  };
  const fetch = async (path, options) => done.posted.push({ path, ...options });
  new Function("self", "fetch", code)(self, fetch);
  const send = async (name, event) => {
    let work;
    handlers[name]({ ...event, waitUntil: (promise) => (work = promise) });
    await work;
    return done;
  };
  return { handlers, send };
}

function subscription(endpoint) {
  const toJSON = () => ({ endpoint, keys: { p256dh: "p", auth: "a" }, expirationTime: null });
  return { endpoint, options: { userVisibleOnly: true }, toJSON };
}

const push = (message) => ({ data: { json: () => message } });
const click = (url) => ({ notification: { data: { url }, close() {} } });

test("a message is shown with its text, its tag and the URL of its page", async () => {
  const message = { title: "Title", body: "Body", url: "/interrupts/1/", tag: "1" };

  const { shown } = await startWorker().send("push", push(message));

  assert.deepEqual(shown, [
    {
      title: "Title",
      body: "Body",
      tag: "1",
      renotify: true,
      data: { url: `${ORIGIN}/interrupts/1/` },
    },
  ]);
});

const noJson = () => {
  throw new SyntaxError("no JSON");
};
for (const [name, event] of [
  ["without data", { data: null }],
  ["of nonsense", { data: { json: noJson } }],
  ["of null", push(null)],
]) {
  test(`something is shown for a message ${name}`, async () => {
    const { shown } = await startWorker().send("push", event);

    assert.equal(shown[0].title, "Signoff");
    assert.equal(shown[0].data.url, `${ORIGIN}/`);
  });
}

for (const url of [
  "https://evil.example/",
  "//evil.example/",
  "javascript:alert(1)",
  "data:text/html,x",
  "http://signoff.example.com/",
  "https://",
  undefined,
]) {
  test(`a click on a message with the URL ${url} opens a page of this site`, async () => {
    const { opened } = await startWorker().send("notificationclick", click(url));

    assert.equal(opened.length, 1);
    assert.ok(opened[0].startsWith(`${ORIGIN}/`), opened[0]);
  });
}

test("a click opens the request", async () => {
  const url = `${ORIGIN}/interrupts/1/`;

  const { opened } = await startWorker().send("notificationclick", click(url));

  assert.deepEqual(opened, [url]);
});

test("a click focuses the tab of the request if one is open", async () => {
  const url = `${ORIGIN}/interrupts/1/`;
  const tabs = [`${ORIGIN}/`, `${url}?sort=new`];

  const done = await startWorker({ tabs }).send("notificationclick", click(url));

  assert.deepEqual(done.focused, [`${url}?sort=new`]);
  assert.deepEqual(done.opened, []);
});

test("a new subscription replaces the former one on the server", async () => {
  const event = { oldSubscription: subscription("https://push.example.com/former") };

  const { posted } = await startWorker({ cookie: "token" }).send("pushsubscriptionchange", event);

  assert.equal(posted.length, 1);
  assert.equal(posted[0].path, "/api/me/channels");
  assert.equal(posted[0].headers["X-CSRFToken"], "token");
  assert.deepEqual(JSON.parse(posted[0].body), {
    endpoint: "https://push.example.com/again",
    keys: { p256dh: "p", auth: "a" },
    former_endpoint: "https://push.example.com/former",
  });
});

test("nothing is posted without a token or without a subscription", async () => {
  const event = { oldSubscription: subscription("https://push.example.com/former") };

  const signedOut = await startWorker().send("pushsubscriptionchange", event);
  const ended = await startWorker({ cookie: "token" }).send("pushsubscriptionchange", {});

  assert.deepEqual([signedOut.posted, ended.posted], [[], []]);
});

test("requests of pages do not pass through the worker", () => {
  assert.deepEqual(Object.keys(startWorker().handlers).sort(), [
    "install",
    "notificationclick",
    "push",
    "pushsubscriptionchange",
  ]);
});
