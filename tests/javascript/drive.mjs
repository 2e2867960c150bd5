// Drives Signoff with the official AG-UI client. SIGNOFF_URL and SIGNOFF_API_KEY say where,
// arguments which scenarios (default: all). Prints one JSON line for each scenario and transport;
// the exit code is 1 when one failed, or when the client complained about anything it received.
import { inspect } from "node:util";
import { Client, transports } from "./clients.mjs";
import { contract } from "./contract.mjs";
import { doors } from "./doors.mjs";
import { rehearsal } from "./rehearsal.mjs";

const LIMIT_MS = 30_000;

const complaints = [];
for (const level of ["warn", "error"]) {
  console[level] = (...parts) =>
    complaints.push(`console.${level}: ${parts.map(asText).join(" ").slice(0, 2000)}`);
}
// The client leaves one behind when a stream breaks off: the scenario fails, the others still run.
process.on("unhandledRejection", (reason) => complaints.push(`unhandled: ${asText(reason)}`));

const wanted = process.argv.slice(2);
let isOk = true;
for (const transport of Object.keys(transports)) {
  const all = { ...rehearsal, ...contract, ...doors[transport] };
  for (const [scenario, act] of Object.entries(all)) {
    if (wanted.length > 0 && !wanted.includes(scenario)) continue;
    const started = performance.now();
    const error = await failureOf(() => act((options) => new Client(transport, options)));
    const ms = Math.round(performance.now() - started);
    isOk &&= error === undefined;
    process.stdout.write(
      `${JSON.stringify({ transport, scenario, ok: error === undefined, ms, error })}\n`,
    );
  }
}
// A scenario that timed out may have left a stream open, which would keep the process alive.
process.exit(isOk ? 0 : 1);

async function failureOf(act) {
  complaints.length = 0;
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  const failures = [];
  try {
    await Promise.race([act(), limit]);
  } catch (error) {
    failures.push(asText(error));
  } finally {
    clearTimeout(timer);
  }
  failures.push(...complaints);
  return failures.length > 0 ? failures.join("\n") : undefined;
}

function asText(value) {
  return typeof value === "string" ? value : value instanceof Error ? value.stack : inspect(value);
}
