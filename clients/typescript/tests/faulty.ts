/** A server on loopback that answers as a script says: for faults of the transport only. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Writes the answer of one exchange, or breaks it. */
export type Fault = (response: ServerResponse) => void;

export interface FaultyServer {
  readonly url: string;
  readonly requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
}

export function answer(body: unknown, status = 200, headers: Record<string, string> = {}): Fault {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (response) => void response.writeHead(status, headers).end(text);
}

/** Send less than was announced. */
export function cutOff(response: ServerResponse): void {
  response.writeHead(200, { "Content-Length": "100" }).write('{"id"', () => response.destroy());
}

export function hangUp(response: ServerResponse): void {
  response.destroy();
}

/** Never answer. */
export function hold(): void {
  return;
}

/** Answer one request after the other until the test ends; the last answer is repeated. */
export async function faultyServer(test: TestContext, ...faults: Fault[]): Promise<FaultyServer> {
  const requests: FaultyServer["requests"] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (body += part));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      requests.push({ method, path: url, headers, body });
      faults[Math.min(requests.length, faults.length) - 1]?.(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** The answer to a POST or GET of a request with one approved call. */
export function approved(args: object, digest: string): object {
  const item = { id: "1", status: "approved", tool: "t", args, args_digest: digest, state: "waiting" };
  return { id: "r1", status: "decided", url: "/threads/t1/", items: [{ ...item, effect: "once", report: true }] };
}

/** Wait for a condition. Throws after a minute, so that a failure ends the test. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Still not true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
