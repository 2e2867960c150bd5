/** HTTP with fetch: retries with jitter, no redirects, bounded answers. */

import { ApiError, Unreachable } from "./errors.js";
import type { Settings } from "./settings.js";

const USER_AGENT = "signoff-client/0.1.0 (TypeScript)";
/** How long one exchange is retried. */
export const PATIENCE_SECONDS = 30;
const TIMEOUT_SECONDS = 15;
const LARGEST_ANSWER = 16 * 2 ** 20;
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
const FIRST_PAUSE = 0.25;
const LONGEST_PAUSE = 10;

export interface ExchangeOptions {
  /** JSON text. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may hold the answer back by itself. */
  readonly holdSeconds?: number;
  readonly patienceSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/** No answer came, or only a part of it: it is unknown whether the server did the work. */
class ConnectionLost extends Error {}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class Transport {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Return the JSON of the answer; retry what may succeed later. It must be safe to repeat.
   *
   * Throws ApiError if the server refused it, Unreachable if there was no usable answer in time,
   * and the reason of the signal if it was aborted.
   */
  async exchange(method: string, path: string, options: ExchangeOptions = {}): Promise<unknown> {
    const patience = options.patienceSeconds ?? PATIENCE_SECONDS;
    const timeout = Math.max(Math.min(TIMEOUT_SECONDS, patience), 1) + (options.holdSeconds ?? 0);
    const deadline = performance.now() + patience * 1000;
    for (let attempt = 0; ; attempt += 1) {
      let pause = pauseSeconds(attempt);
      let problem: Error;
      try {
        const reply = await this.#send(method, path, options, timeout);
        if (!RETRIED.has(reply.status)) return readReply(reply, this.#settings.url);
        problem = new ConnectionLost(`it answers ${reply.status}`);
        pause = retryAfterSeconds(reply.headers) ?? pause;
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) throw error;
        problem = error;
      }
      if (performance.now() + pause * 1000 > deadline) {
        throw new Unreachable(
          `Signoff gave no usable answer to ${method} ${path}: ${problem.message}`,
          { cause: problem.cause },
        );
      }
      await sleep(pause, options.signal);
    }
  }

  async #send(
    method: string,
    path: string,
    options: ExchangeOptions,
    timeoutSeconds: number,
  ): Promise<Reply> {
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    try {
      const response = await fetch(this.#settings.url + path, {
        method,
        body: options.body ?? null,
        headers: {
          Authorization: `Bearer ${this.#settings.apiKey}`,
          Accept: "application/json",
          "User-Agent": USER_AGENT,
          ...(options.body === undefined ? {} : { "Content-Type": "application/json" }),
          ...options.headers,
        },
        redirect: "manual", // the key must not go to wherever a redirect points
        signal: options.signal ? AbortSignal.any([options.signal, timeout]) : timeout,
      });
      const { status, headers } = response;
      return { status, headers, text: await readText(response) };
    } catch (error) {
      if (error instanceof ConnectionLost) throw error;
      throw new ConnectionLost(describeFailure(error), { cause: error });
    }
  }
}

/** Return the text of a response. Throws ConnectionLost if it is too large. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = response.body?.getReader();
  let text = "";
  for (let size = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > LARGEST_ANSWER) {
      await reader.cancel();
      throw new ConnectionLost("its answer is too large");
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/** Return a random pause, longer from attempt to attempt, so that clients do not march. */
function pauseSeconds(attempt: number): number {
  const longest = Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE);
  return longest * (0.5 + Math.random() / 2);
}

/**
 * Return the pause that the server wants.
 *
 * It has up to a tenth more, so that not all clients come back at the same moment.
 */
function retryAfterSeconds(headers: Headers): number | undefined {
  const value = (headers.get("retry-after") ?? "").trim();
  const seconds = /^\d+$/.test(value)
    ? Number(value.slice(0, 9))
    : Math.max((Date.parse(value) - Date.now()) / 1000, 0);
  return Number.isNaN(seconds) ? undefined : seconds * (1 + Math.random() / 10);
}

/** Return the JSON of an answer. Throws ApiError, or ConnectionLost if it is not Signoff's. */
function readReply(reply: Reply, origin: string): unknown {
  const { status } = reply;
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = reply.headers.get("location") ?? "another address";
    const detail = `the server redirects to ${target}. Set SIGNOFF_URL to Signoff's own address.`;
    throw new ApiError(status, "REDIRECTED", detail);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(reply.text);
  } catch (error) {
    if (status >= 400 && status < 500) {
      const detail = `the answer ${status} has no JSON; is SIGNOFF_URL Signoff's address?`;
      throw new ApiError(status, "NO_PROBLEM", detail);
    }
    throw new ConnectionLost(`its answer ${status} is not JSON`, { cause: error });
  }
  if (status < 300) return withFullUrls(answer, origin);
  const problem = isRecord(answer) ? answer : {};
  const detail = String(problem["detail"] ?? `status ${status}`);
  throw new ApiError(status, String(problem["code"] ?? "REFUSED"), detail, problem);
}

/** Return an answer with full addresses: a server may not know its own. */
function withFullUrls(answer: unknown, origin: string): unknown {
  if (!isRecord(answer)) return answer;
  const { results, url } = answer;
  if (Array.isArray(results)) {
    return { ...answer, results: results.map((row) => withFullUrls(row, origin)) };
  }
  return typeof url === "string" ? { ...answer, url: new URL(url, `${origin}/`).href } : answer;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Return why fetch failed; the system's reason is in the innermost cause. */
function describeFailure(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  if (!(reason instanceof Error)) return String(reason);
  return reason.message || String((reason as { code?: unknown }).code ?? reason.name);
}

/** Do nothing for a while. Throws the reason of the signal as soon as it is aborted. */
export async function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
