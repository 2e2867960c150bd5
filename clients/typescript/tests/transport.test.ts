import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { ApiError, ConfigurationError, EditRefused, Signoff, Unreachable } from "signoff-client";

import { answer, approved, cutOff, faultyServer, hangUp, hold, until } from "./faulty.js";

const OPEN = { id: "r1", status: "open", url: "/threads/t1/", items: [] };
const apiKey = "sk_test";
const DIGEST = "c2b11e657e12fd177359627ca89412018e2274d0873cfbfcf1fc50f685582e9e"; // {"amount":1}
const STARTED = { state: "started", args: { amount: 1 }, idempotency_key: "c1" };

test("what may succeed later is sent again with the same idempotency key", async (t) => {
  const server = await faultyServer(
    t,
    hangUp,
    cutOff,
    answer("<html>", 200),
    answer({}, 503, { "Retry-After": "0" }),
    answer(OPEN, 201),
  );

  const request = await new Signoff({ url: server.url, apiKey, agent: "ci" }).ask({ title: "Go?" });

  assert.equal(request.id, "r1");
  assert.equal(request.url, `${server.url}/threads/t1/`);
  const keys = new Set(server.requests.map(({ headers }) => headers["idempotency-key"]));
  assert.equal(keys.size, 1);
  assert.equal(server.requests.length, 5);
  assert.equal(server.requests[0]?.headers.authorization, "Bearer sk_test");
  assert.equal(server.requests[0]?.body, '{"agent":"ci","title":"Go?"}');
});

test("a pause of the server longer than the patience is Unreachable", async (t) => {
  const server = await faultyServer(t, answer({}, 429, { "Retry-After": "31" }));

  const asked = new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  await assert.rejects(asked, (error) => error instanceof Unreachable && /429/.test(error.message));
  assert.equal(server.requests.length, 1);
});

test("the pause of a Retry-After that is a date is kept", async (t) => {
  const later = new Date(Date.now() + 60_000).toUTCString();
  const server = await faultyServer(t, answer({}, 503, { "Retry-After": later }));

  await assert.rejects(new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" }), Unreachable);

  assert.equal(server.requests.length, 1);
});

test("a refusal is not sent again, and has the problem", async (t) => {
  const problem = { code: "INVALID", detail: "No.", errors: { title: ["Too long"] } };
  const server = await faultyServer(t, answer(problem, 400));

  const asked = new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code, error.detail], [400, "INVALID", "No."]);
    assert.deepEqual(error.problem["errors"], { title: ["Too long"] });
    return true;
  });
  assert.equal(server.requests.length, 1);
});

test("a refusal without JSON says that the address may be wrong", async (t) => {
  const server = await faultyServer(t, answer("<h1>Not found</h1>", 404));

  const asked = new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  await assert.rejects(asked, { name: "ApiError", code: "NO_PROBLEM" });
});

test("the key does not follow a redirect", async (t) => {
  const other = await faultyServer(t, answer(OPEN));
  const server = await faultyServer(t, answer("", 302, { Location: other.url }));

  const asked = new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  await assert.rejects(asked, { name: "ApiError", code: "REDIRECTED" });
  assert.deepEqual(other.requests, []);
});

test("an answer that is too large is no answer", async (t) => {
  const large = answer(`{"id": "${"x".repeat(17 * 2 ** 20)}"}`);
  const server = await faultyServer(t, large, answer(OPEN));

  const request = await new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  assert.equal(request.id, "r1");
  assert.equal(server.requests.length, 2);
});

test("an aborted signal ends a wait at once, with its reason", async (t) => {
  const server = await faultyServer(t, answer(OPEN), hold);
  const controller = new AbortController();
  const request = await new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });
  const waiting = request.wait({ signal: controller.signal });
  const reason = new Error("SIGTERM");

  controller.abort(reason);

  await assert.rejects(waiting, (error) => error === reason);
});

// The pause would be 25 seconds.
test("an aborted signal ends the pause before a retry", { timeout: 15_000 }, async (t) => {
  const server = await faultyServer(t, answer({}, 503, { "Retry-After": "25" }));
  const controller = new AbortController();
  const { signal } = controller;
  const asked = new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" }, { signal });
  await until(() => server.requests.length > 0);

  controller.abort();

  await assert.rejects(asked, { name: "AbortError" });
});

test("a server that does not hold is not asked in a loop", async (t) => {
  const server = await faultyServer(t, answer(OPEN));
  const request = await new Signoff({ url: server.url, apiKey }).ask({ title: "Go?" });

  await assert.rejects(request.wait({ timeoutSeconds: 0.3 }), { name: "Pending" });

  assert.ok(server.requests.length <= 7, `${server.requests.length} requests`);
});

test("arguments that are not those of the digest do not run", async (t) => {
  const other = "0".repeat(64);
  const server = await faultyServer(t, answer(approved({ amount: 1 }, other)));
  const { item } = await new Signoff({ url: server.url, apiKey }).ask({ tool: "t" });

  await assert.rejects(item.run(() => assert.fail("ran")), EditRefused);

  assert.equal(server.requests.length, 1);
});

test("arguments that change between the decision and the start do not run", async (t) => {
  const started = { ...STARTED, args: { amount: 2 } };
  const server = await faultyServer(
    t,
    answer(approved({ amount: 1 }, DIGEST)),
    answer(started),
    answer({ state: "failed", replayed: false }),
  );
  const { item } = await new Signoff({ url: server.url, apiKey }).ask({ tool: "t" });

  await assert.rejects(item.run(() => assert.fail("ran")), EditRefused);

  const report = JSON.parse(server.requests[2]?.body ?? "") as Record<string, unknown>;
  assert.equal(report["outcome"], "failed");
});

test("the lease is prolonged while the function runs, and not after", async (t) => {
  const server = await faultyServer(t, answer(approved({ amount: 1 }, DIGEST)), answer(STARTED));
  const { item } = await new Signoff({ url: server.url, apiKey }).ask({ tool: "t" });
  const starts = (): string[] =>
    server.requests.filter(({ path }) => path.endsWith("/start")).map(({ body }) => body);

  await item.run(() => until(() => starts().length >= 4), { leaseSeconds: 0.03 });

  assert.equal(new Set(starts()).size, 1);
  assert.match(starts()[0] ?? "", /"lease_seconds":0.03/);
  const active = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout");
  assert.deepEqual(active, []);
});

test("a lease that is lost is a warning, and the function goes on", async (t) => {
  const lost = answer({ code: "IN_DOUBT", detail: "A person is asked." }, 409);
  const approval = answer(approved({ amount: 1 }, DIGEST));
  const server = await faultyServer(t, approval, answer(STARTED), lost);
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  const { item } = await new Signoff({ url: server.url, apiKey, onWarning }).ask({ tool: "t" });

  const result = await item.run(
    async () => {
      await until(() => warnings.length > 0);
      return "re_1";
    },
    { leaseSeconds: 0.03 },
  );

  assert.equal(result, "re_1");
  assert.match(warnings[0] ?? "", /could not be prolonged: InDoubt/);
});

test("a start whose answer was lost is sent again with the same attempt", async (t) => {
  const approval = answer(approved({ amount: 1 }, DIGEST));
  const done = answer({ state: "succeeded", replayed: false });
  const server = await faultyServer(t, approval, hangUp, answer(STARTED), done);
  const { item } = await new Signoff({ url: server.url, apiKey }).ask({ tool: "t" });
  let runs = 0;

  await item.run(() => (runs += 1));

  const [, first, second, report] = server.requests;
  assert.equal(first?.body, second?.body);
  assert.deepEqual(JSON.parse(report?.body ?? "").result, 1);
  assert.equal(runs, 1);
});

test("http is for this machine only", () => {
  for (const url of ["http://localhost:1", "http://127.0.0.1", "http://[::1]:8000/", "https://a.example"]) {
    new Signoff({ url, apiKey });
  }
  const refused = [
    "",
    "signoff.example.com",
    "ftp://signoff.example.com",
    "http://signoff.example.com",
    "http://127.0.0.1.example.com",
    "http://10.0.0.1",
    "https://me:secret@signoff.example.com",
    "https://signoff.example.com/?key=1",
  ];
  for (const url of refused) {
    assert.throws(() => new Signoff({ url, apiKey }), ConfigurationError, url);
  }
});

test("a key that cannot be a header is refused, and no key is displayed", () => {
  for (const key of ["", "sk_ä", "sk\nX-Other: 1", "sk 1"]) {
    assert.throws(() => new Signoff({ url: "https://a.example", apiKey: key }), ConfigurationError);
  }
  const signoff = new Signoff({ url: "https://a.example", apiKey: "sk_secret" });
  assert.ok(!inspect(signoff, { depth: null, showHidden: true }).includes("sk_secret"));
  assert.ok(!JSON.stringify(signoff).includes("sk_secret"));
});
