// Drives Signoff with the official AG-UI client and with CopilotKit. SIGNOFF_URL and SIGNOFF_API_KEY
// say where, arguments which scenarios (default: all). Prints one JSON line for each client and
// scenario; the exit code is 1 when one failed, or when a client complained about what it received.
import { inspect } from "node:util";
import * as since1 from "@ag-ui/client";
import { canonicalCards, legacyCards } from "./cards.mjs";
import { Client, transports } from "./clients.mjs";
import { contract } from "./contract.mjs";
import { Chat } from "./copilotkit.mjs";
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

const chat = (given) => (options) => Chat.open({ ...given, ...options });
const clients = {
  "copilotkit": [canonicalCards, chat({})],
  "copilotkit on 1.0": [canonicalCards, chat({ client: since1 })],
  "copilotkit, langgraph": [legacyCards, chat({ dialect: "langgraph" })],
};
for (const transport of Object.keys(transports)) {
  const all = { ...rehearsal, ...contract, ...doors[transport] };
  // It lets nothing through about a request that has expired, not even that it is called off.
  if (transport === "http before 1.0") delete all.expires_soon;
  clients[transport] = [all, (options) => new Client(transport, options)];
}

const wanted = process.argv.slice(2);
let isOk = true;
for (const [client, [scenarios, open]] of Object.entries(clients)) {
  for (const [scenario, act] of Object.entries(scenarios)) {
    if (wanted.length > 0 && !wanted.includes(scenario) && !wanted.includes(client)) continue;
    const started = performance.now();
    const error = await failureOf(() => act(open, complaints));
    const ms = Math.round(performance.now() - started);
    isOk &&= error === undefined;
    const result = { client, scenario, ok: error === undefined, ms, error };
    process.stdout.write(`${JSON.stringify(result)}\n`);
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
