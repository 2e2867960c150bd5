/** JSON values: what may be sent, and the digest by which approved arguments are recognised. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

const DEEPEST = 200;

/**
 * Return JSON text of a value that means the same when it is read again.
 *
 * JSON.stringify alone turns NaN into null, a Date into text and a Map into {}: people would
 * approve something else than what the program has. Members that are undefined are left out.
 *
 * Throws TypeError, with the path of what JSON does not have.
 */
export function encode(value: unknown, name: string): string {
  check(value, name, 0);
  return JSON.stringify(value);
}

function check(value: unknown, path: string, depth: number): void {
  if (depth > DEEPEST) throw new TypeError(`${path} is nested too deeply, or contains itself`);
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "number") return checkNumber(value, path);
  if (typeof value === "string") {
    // Lone surrogates are no text: they have no UTF-8.
    if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${path} has half of a character`);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`, depth + 1);
    return;
  }
  if (!isPlain(value)) throw new TypeError(`${path} is ${kindOf(value)}, which JSON does not have`);
  for (const [member, item] of Object.entries(value)) {
    check(member, `the name ${JSON.stringify(member)} in ${path}`, depth);
    if (item !== undefined) check(item, `${path}.${member}`, depth + 1);
  }
}

function checkNumber(value: number, path: string): void {
  if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON does not have`);
  if (Number.isInteger(value) && Math.abs(value) < 1e21 && !Number.isSafeInteger(value)) {
    throw new TypeError(`${path} is an integer of 2^53 or more; send it as text`);
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  return `a ${value.constructor?.name || "object of a class"}`;
}

/** Return the canonical JSON text of a value that was read from JSON (RFC 8785). */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  // The RFC sorts names by UTF-16 code units, as sort() does.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`;
}

/** Return the SHA-256 of the canonical JSON text, in hex: an `args_digest`. */
export async function digest(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonical(value));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Return a JSON Schema of values that have the same shape as an example.
 *
 * TypeScript infers the type of `args` from the same example, so that edited arguments fit it.
 */
export function schemaLike(value: unknown): JsonObject {
  if (value === null || value === undefined) return {};
  if (Array.isArray(value)) {
    const kinds = new Set(value.map((item) => canonical(schemaLike(item))));
    const [kind] = kinds;
    return {
      type: "array",
      ...(kind && kinds.size === 1 ? { items: JSON.parse(kind) as JsonObject } : {}),
    };
  }
  if (typeof value !== "object") return { type: typeof value };
  const members = Object.entries(value).filter(([, item]) => item !== undefined);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, item]) => [name, schemaLike(item)])),
    required: members.map(([name]) => name),
    additionalProperties: false,
  };
}
