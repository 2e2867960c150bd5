// Reads chat messages from the file that is its argument; prints the faults of each as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import ts from "typescript";

const require = createRequire(import.meta.url);
// The file for browsers: its ES modules name folders, which Node does not resolve.
const { AdaptiveCard, SerializationContext, Versions } = require("adaptivecards/dist/adaptivecards.min.js");

const { slack, teams } = JSON.parse(readFileSync(process.argv[2], "utf8"));

/** Check all blocks with the types of Slack, in one program: one list is too complex for them. */
function slackFaults(messages) {
  const file = new URL("messages.ts", import.meta.url).pathname;
  const constants = messages.map(
    (message, number) =>
      `export const message${number}: KnownBlock[] = ${JSON.stringify(message.blocks)};\n`,
  );
  writeFileSync(file, `import type { KnownBlock } from "@slack/types";\n${constants.join("")}`);
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    types: [],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map((fault) => ts.flattenDiagnosticMessageText(fault.messageText, "\n"));
}

function cardFaults(message) {
  const context = new SerializationContext(Versions.v1_5);
  const card = new AdaptiveCard();
  card.parse(message.attachments[0].content, context);
  const faults = [...Array(context.eventCount).keys()].map((at) => context.getEventAt(at).message);
  faults.push(...card.validateProperties().validationEvents.map((event) => event.message));
  return faults;
}

console.log(JSON.stringify({ slack: slackFaults(slack), teams: teams.flatMap(cardFaults) }));
