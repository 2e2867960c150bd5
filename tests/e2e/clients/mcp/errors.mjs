// Calls tools with wrong arguments by the official client, which validates results by its schemas.
// CALLS is a JSON list of [name, arguments]; each prints {isError, text}, or {exception}.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { SIGNOFF_URL, SIGNOFF_API_KEY, CALLS } = process.env;
const headers = { Authorization: `Bearer ${SIGNOFF_API_KEY}` };
const client = new Client({ name: "errors", version: "1" });
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${SIGNOFF_URL}/mcp`), { requestInit: { headers } }),
);
await client.listTools();
for (const [name, args] of JSON.parse(CALLS)) {
  try {
    const { isError = false, content } = await client.callTool({ name, arguments: args });
    console.log(JSON.stringify({ isError, text: content.map(({ text }) => text).join("\n") }));
  } catch (error) {
    console.log(JSON.stringify({ exception: String(error) }));
  }
}
await client.close();
