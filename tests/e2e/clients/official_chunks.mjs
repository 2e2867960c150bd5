// Reads one list of events per line; says what the official client makes of their chunks.
import { createInterface } from "node:readline";
import { transformChunks } from "@ag-ui/client";
import { from } from "rxjs";

console.warn = () => {};

const expand = (events) =>
  new Promise((done) => {
    const expanded = [];
    from(events)
      .pipe(transformChunks(false))
      .subscribe({
        next: (event) => expanded.push(event),
        error: (error) => done({ expanded, error: error.message }),
        complete: () => done({ expanded, error: null }),
      });
  });

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await expand(JSON.parse(line))));
}
