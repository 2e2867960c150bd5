/** A running Signoff for tests, and a reviewer who decides; SIGNOFF_REVIEWER_KEY is the key. */

import { type RequestSet, Signoff } from "signoff-client";

const URL = environment("SIGNOFF_URL");
const APPROVE = { approved: true };

export function environment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Set ${name}; make client-typescript does.`);
  return value;
}

/** Return the JSON of an answer of the REST API. */
export async function call(
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<any> {
  const response = await fetch(URL + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Answer one item, the first by default; without a payload approve it. */
export async function decide(
  request: RequestSet<object>,
  payload: unknown = APPROVE,
  itemId?: string,
): Promise<void> {
  const item = itemId === undefined ? request.items[0] : request.find(itemId);
  const key = environment("SIGNOFF_REVIEWER_KEY");
  const path = `/api/interrupts/${item?.raw.interrupt}`;
  const { view_digest } = await call(key, "GET", path);
  await call(key, "POST", `${path}/decide`, { status: "resolved", payload, view_digest });
}

export async function deny(request: RequestSet<object>, reason: string): Promise<void> {
  await decide(request, { approved: false, reason });
}

/** Approve a call with other arguments. */
export async function edit(
  request: RequestSet<object>,
  args: object,
  itemId?: string,
): Promise<void> {
  await decide(request, { approved: true, editedArgs: args }, itemId);
}

/** Return the status of a request, and the state of its first call. */
export async function stateOf({ id }: RequestSet<object>): Promise<[string, string | null]> {
  const request = await new Signoff().get(id);
  return [request.status, request.items[0]?.state ?? null];
}
