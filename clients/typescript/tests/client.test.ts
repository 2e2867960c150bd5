import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import {
  AlreadyStarted,
  ApiError,
  Denied,
  EditRefused,
  Expired,
  InDoubt,
  Lapsed,
  NotApproved,
  Pending,
  Signoff,
  Withdrawn,
} from "signoff-client";

import { call as callApi, decide, deny, edit, environment, stateOf } from "./desk.js";

const signoff = new Signoff();
const refund = { title: "Refund?", tool: "refund", args: { charge: "ch_17", amount: 4750 } };

test("an approved call runs once and is reported", async () => {
  const set = await signoff.ask(refund);
  assert.deepEqual(set.item.args, refund.args);
  await decide(set);
  const { item } = await set.wait();

  const result = await item.run((args, call) => {
    assert.deepEqual(args, refund.args);
    assert.equal(call.idempotencyKey, item.raw.call);
    return { refund: "re_1" };
  });

  assert.deepEqual(result, { refund: "re_1" });
  assert.deepEqual(await stateOf(set), ["done", "succeeded"]);
  await assert.rejects(item.run(() => assert.fail("ran")), AlreadyStarted);
});

test("wait returns when a person decides", async () => {
  const set = await signoff.ask(refund);
  const waiting = set.wait();

  await decide(set);

  assert.equal((await waiting).item.status, "approved");
});

test("the function gets the edited arguments", async () => {
  const set = await signoff.ask({ ...refund, may_edit: true });
  await edit(set, { charge: "ch_17", amount: 4000 });
  const { item } = await set.wait();
  assert.ok(item.edited);

  const amount = await item.run((args) => args.amount);

  assert.equal(amount, 4000);
});

test("edits keep the shape of the arguments", async () => {
  const args = { lines: [{ sku: "a", count: 1 }], note: "" };
  const set = await signoff.ask({ tool: "order", args, may_edit: true });

  await assert.rejects(edit(set, { lines: [{ sku: "a", count: "two" }], note: "" }), /count/);
  await assert.rejects(edit(set, { note: "" }), /lines/);
  await assert.rejects(edit(set, { ...args, currency: "eur" }), /currency/);

  const edited = { lines: [{ sku: "b", count: 2 }, { sku: "c", count: 1 }], note: "x" };
  await edit(set, edited);
  assert.deepEqual((await set.wait()).item.args, edited);
});

test("an edit that the program refuses does not run", async () => {
  const set = await signoff.ask({ ...refund, may_edit: true });
  await edit(set, { charge: "ch_17", amount: -1 });
  const { item } = await set.wait();
  const check = ({ amount }: { amount: number }): void => assert.ok(amount > 0, "amount > 0");

  const running = item.run(() => assert.fail("ran"), { check });

  await assert.rejects(running, (error) => error instanceof EditRefused && /amount > 0/.test(error.message));
  assert.deepEqual(await stateOf(set), ["done", "failed"]);
});

test("a denial is thrown with its reason", async () => {
  const set = await signoff.ask(refund);
  await deny(set, "card expired");
  const { item } = await set.wait();

  await assert.rejects(item.run(() => assert.fail("ran")), (error) => {
    assert.ok(error instanceof Denied && error instanceof NotApproved);
    assert.equal(error.reason, "card expired");
    assert.equal(error.request.id, set.id);
    return true;
  });
});

test("a call that nobody has decided does not run", async () => {
  const set = await signoff.ask(refund);

  await assert.rejects(set.item.run(() => assert.fail("ran")), NotApproved);
  await assert.rejects(set.wait({ timeoutSeconds: 0 }), Pending);

  await set.withdraw();
});

test("a withdrawn request is thrown", async () => {
  const set = await signoff.ask(refund);

  const withdrawn = await set.withdraw("no longer needed");

  assert.equal(withdrawn.status, "withdrawn");
  await assert.rejects(withdrawn.item.run(() => assert.fail("ran")), Withdrawn);
});

test("a decided request cannot be withdrawn", async () => {
  const set = await signoff.ask(refund);
  await decide(set);

  await assert.rejects(set.withdraw(), (error) => {
    assert.ok(error instanceof ApiError);
    assert.equal(error.code, "ALREADY_DECIDED");
    assert.equal((error.problem["request"] as { id: string }).id, set.id);
    return true;
  });
});

test("an expired request is thrown", async () => {
  const set = await signoff.ask({ ...refund, expires_in: 1 });

  const { item } = await set.wait();

  await assert.rejects(item.run(() => assert.fail("ran")), Expired);
});

test("an approval that was not used in time is thrown", async () => {
  const set = await signoff.ask({ ...refund, execution: { valid_seconds: 1 } });
  await decide(set);
  const { item } = await set.wait();
  let error: unknown;
  // The approval may still be fresh: then this attempt does not count.
  while (!(error instanceof Lapsed)) {
    const late = await signoff.get(set.id);
    if (late.item.state === "waiting") continue;
    error = await item.run(() => assert.fail("ran")).catch((caught: unknown) => caught);
  }
});

test("an error of a once call puts it in doubt", async () => {
  const set = await signoff.ask(refund);
  await decide(set);
  const { item } = await set.wait();
  const failure = new Error("connection reset");

  await assert.rejects(item.run(() => Promise.reject(failure)), (error) => error === failure);

  assert.equal((await stateOf(set))[1], "in_doubt");
  await assert.rejects(item.run(() => assert.fail("ran")), InDoubt);
  const again = await signoff.get(set.id);
  await assert.rejects(again.item.run(() => assert.fail("ran")), InDoubt);
});

test("an error of an idempotent call is a failure", async () => {
  const set = await signoff.ask({ ...refund, execution: { effect: "idempotent" } });
  await decide(set);
  const { item } = await set.wait();

  await assert.rejects(item.run(() => Promise.reject(new Error("no"))), /no/);

  assert.deepEqual(await stateOf(set), ["done", "failed"]);
});

test("of attempts at the same time, one runs", async () => {
  const set = await signoff.ask(refund);
  await decide(set);
  const { item } = await set.wait();
  let runs = 0;

  const attempts = await Promise.allSettled(
    Array.from({ length: 16 }, () => item.run(() => (runs += 1))),
  );

  assert.equal(runs, 1);
  const refusals = attempts.filter(({ status }) => status === "rejected");
  assert.ok(refusals.every((refusal) => (refusal as PromiseRejectedResult).reason instanceof AlreadyStarted));
  assert.equal(refusals.length, 15);
});

test("another process goes on with the id", async () => {
  const { id } = await signoff.ask(refund);
  await decide(await signoff.get(id));

  const { item } = await new Signoff().wait(id);

  assert.deepEqual(await item.run((args) => args), refund.args);
});

test("the same key returns the same request", async () => {
  const key = randomUUID();
  const first = await signoff.ask(refund, { key });

  const second = await new Signoff().ask(refund, { key });

  assert.equal(second.id, first.id);
  assert.deepEqual([first.replayed, second.replayed], [false, true]);
  const other = signoff.ask({ ...refund, title: "Other?" }, { key });
  await assert.rejects(other, (error) => error instanceof ApiError && error.status === 409);
});

test("a question returns its answer", async () => {
  const yes = await signoff.ask({ title: "Deploy?" });
  const no = await signoff.ask({ title: "Deploy?" });
  const region = await signoff.ask({
    title: "Which region?",
    answer_schema: { type: "string", enum: ["eu", "us"] },
  });
  await decide(yes);
  await deny(no, "not today");
  await decide(region, "eu");

  assert.equal((await yes.wait()).item.answer, true);
  assert.equal((await no.wait()).item.answer, false);
  assert.equal((await region.wait()).item.answer, "eu");
});

test("a set has one decision for each item", async () => {
  const set = await signoff.ask({
    items: [
      { id: "publish", tool: "publish", args: { version: "4.2.0" } },
      { id: "tag/é", tool: "tag", args: {} },
    ],
  });
  await deny(set, "no");
  assert.ok((await signoff.get(set.id)).isOpen);
  await decide(set, { approved: true }, "tag/é");

  const decided = await set.wait();

  assert.throws(() => decided.item, RangeError);
  await assert.rejects(decided.find("publish").run(() => assert.fail("ran")), Denied);
  assert.equal(await decided.find("tag/é").run(() => 1), 1);
});

test("the newest requests of a session are listed", async () => {
  const session = { id: randomUUID() };
  const set = await signoff.ask({ ...refund, session });

  const listed = await signoff.list({ session: session.id, status: "open" });

  assert.deepEqual(listed.map(({ id }) => id), [set.id]);
});

test("a call without a report is handed over", async () => {
  const warnings: string[] = [];
  const quiet = new Signoff({ onWarning: (message) => warnings.push(message) });
  const set = await quiet.ask({ ...refund, execution: { report: false } });
  await decide(set);

  await (await set.wait()).item.run(() => undefined);

  assert.equal((await stateOf(set))[1], "handed_over");
  assert.deepEqual(warnings, []);
});

test("a program that reports by itself says what it executed", async () => {
  const set = await signoff.ask(refund);
  await decide(set);
  const call = await (await set.wait()).item.start({ leaseSeconds: 60 });
  await call.prolong();

  const report = await call.report("succeeded", { executed_args: { charge: "ch_17", amount: 1 } });

  assert.deepEqual([report.state, report.replayed], ["succeeded", false]);
});

test("a result that cannot be stored does not hide the outcome", async () => {
  for (const result of ["x".repeat(1_100_000), "\u0000", { at: new Date(0) }, 2 ** 60, Symbol("x")]) {
    const set = await signoff.ask(refund);
    await decide(set);

    assert.equal(await (await set.wait()).item.run(() => result), result);

    assert.deepEqual(await stateOf(set), ["done", "succeeded"]);
  }
});

test("a report that cannot be sent is a warning, and the result is kept", async () => {
  const warnings: string[] = [];
  const program = new Signoff({ onWarning: (message) => warnings.push(message) });
  const set = await program.ask(refund);
  await decide(set);
  const { item } = await set.wait();

  const result = await item.run(async (_, call) => {
    await call.report("failed", { error: "by itself" });
    return "re_1";
  });

  assert.equal(result, "re_1");
  assert.match(warnings.join(), /ALREADY_REPORTED/);
});

test("bodies are those that the server describes", async () => {
  const schema = await callApi(environment("SIGNOFF_API_KEY"), "GET", "/api/schema/?format=json");
  const resolve = ({ $ref }: { $ref: string }): any => schema.components.schemas[$ref.split("/").at(-1) ?? ""];
  const names = (described: any): string[] => Object.keys(described.properties).sort();
  const json = "application/json";
  const path = "/api/requests";
  const item = `${path}/{request_id}/items/{item}`;
  const bodyOf = (of: string): any => resolve(schema.paths[of].post.requestBody.content[json].schema);
  const answer = resolve(schema.paths[path].post.responses["201"].content[json].schema);
  const set = await signoff.ask(refund);

  assert.deepEqual(Object.keys(set.raw).sort(), names(answer));
  assert.deepEqual(Object.keys(set.item.raw).sort(), names(resolve(answer.properties.items.items)));
  const sent = ["agent", "title", "tool", "args", "why", "may_edit", "args_schema", "answer_schema",
    "metadata", "execution", "id", "call_id", "items", "session", "requester", "context",
    "expires_in", "callback_url", "references", "secret_paths", "attach"];
  assert.deepEqual(names(bodyOf(path)), sent.sort());
  assert.deepEqual(names(bodyOf(`${item}/start`)), ["args_digest", "attempt", "lease_seconds"]);
  const report = ["attempt", "error", "executed_args", "outcome", "result"];
  assert.deepEqual(names(bodyOf(`${item}/report`)), report);
  assert.deepEqual(names(bodyOf(`${path}/{request_id}/withdraw`)), ["reason"]);
});
