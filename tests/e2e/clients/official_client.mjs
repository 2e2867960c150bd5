// Reads one list of events per line; says how many the official client accepts, and what it makes
// of them when it accepts all.
import { createInterface } from "node:readline";
import { defaultApplyEvents, verifyEvents } from "@ag-ui/client";
import { from, lastValueFrom, toArray } from "rxjs";

console.warn = () => {};

const verify = (events) =>
  new Promise((done) => {
    let accepted = 0;
    from(events)
      .pipe(verifyEvents())
      .subscribe({
        next: () => accepted++,
        error: (error) => done({ accepted, error: error.message }),
        complete: () => done({ accepted, error: null }),
      });
  });

async function reduce(events) {
  const input = { threadId: "t", runId: "r", messages: [], state: {} };
  const changes$ = defaultApplyEvents(input, from(events), { messages: [] }, []);
  const changes = await lastValueFrom(changes$.pipe(toArray()));
  return Object.assign({ messages: [], state: {} }, ...changes);
}

for await (const line of createInterface({ input: process.stdin })) {
  const events = JSON.parse(line);
  const verdict = await verify(events);
  const reduced = verdict.error === null ? await reduce(events) : {};
  console.log(JSON.stringify({ ...verdict, ...reduced }));
}
