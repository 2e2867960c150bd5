/** The operations on requests, as the REST API has them. */

import { ApiError } from "./errors.js";
import { encode, type JsonObject } from "./json.js";
import { PATIENCE_SECONDS, sleep, type Transport } from "./transport.js";
import type { Outcome, Page, ReportAnswer, RequestAnswer, StartAnswer } from "./wire.js";

/** How long the server holds one GET; below the idle limits of common proxies. */
const HOLD_SECONDS = 25;
/** How long a wait survives a server that is away. */
const OUTAGE_SECONDS = 900;
/** A report is worth more patience than other exchanges: without it, a person is asked. */
const REPORT_PATIENCE_SECONDS = 120;

type Signal = AbortSignal | undefined;

export interface ReportMembers {
  readonly attempt: string;
  readonly outcome: Outcome;
  /** Any JSON. */
  readonly result?: unknown;
  readonly error?: string;
  readonly executed_args?: object;
}

export class Api {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Send a request once, however often it has to be repeated. */
  async create(body: string, key: string, signal: Signal): Promise<RequestAnswer> {
    const options = { body, headers: { "Idempotency-Key": key }, signal };
    return (await this.#transport.exchange("POST", "/api/requests", options)) as RequestAnswer;
  }

  async read(
    id: string,
    signal: Signal,
    holdSeconds = 0,
    patienceSeconds = PATIENCE_SECONDS,
  ): Promise<RequestAnswer> {
    const path = `/api/requests/${encodeURIComponent(id)}?wait=${holdSeconds}`;
    const options = { holdSeconds, patienceSeconds, signal };
    return (await this.#transport.exchange("GET", path, options)) as RequestAnswer;
  }

  async list(filters: Record<string, string>, signal: Signal): Promise<readonly RequestAnswer[]> {
    const path = `/api/requests?${new URLSearchParams(filters)}`;
    const answer = await this.#transport.exchange("GET", path, { signal });
    return (answer as Page<RequestAnswer>).results;
  }

  /**
   * Wait until a request is not open any more, or until the time is over.
   *
   * A server that is away meanwhile does no harm; the wait goes on when it is back. Throws
   * Unreachable if it was away at the end, or for more than OUTAGE_SECONDS.
   */
  async wait(id: string, seconds: number, signal: Signal): Promise<RequestAnswer> {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const sentAt = performance.now();
      const left = (deadline - sentAt) / 1000;
      const hold = Math.max(0, Math.floor(Math.min(left, HOLD_SECONDS)));
      const patience = Math.min(Math.max(left, 5), OUTAGE_SECONDS);
      const answer = await this.read(id, signal, hold, patience);
      const now = performance.now();
      if (answer.status !== "open" || now >= deadline - 50) return answer;
      // A server that does not hold answers at once: do not spin.
      if (now - sentAt < 500) {
        await sleep(Math.max(0.05, Math.min(1, (deadline - now) / 1000)), signal);
      }
    }
  }

  async withdraw(id: string, reason: string, signal: Signal): Promise<RequestAnswer> {
    const options = { body: encode(reason ? { reason } : {}, "the withdrawal"), signal };
    const path = `/api/requests/${encodeURIComponent(id)}/withdraw`;
    return (await this.#transport.exchange("POST", path, options)) as RequestAnswer;
  }

  /** Use up the approval of a call; the same attempt again prolongs its lease. */
  async start(id: string, item: string, members: object, signal: Signal): Promise<StartAnswer> {
    const options = { body: encode(members, "the start"), signal };
    const path = itemPath(id, item, "start");
    return (await this.#transport.exchange("POST", path, options)) as StartAnswer;
  }

  /** A result that the server cannot store is left out: the outcome matters more. */
  async report(id: string, item: string, members: ReportMembers): Promise<ReportAnswer> {
    try {
      return await this.#report(id, item, encode(members, "the report"));
    } catch (error) {
      const isRefused =
        error instanceof TypeError ||
        (error instanceof ApiError && [400, 413, 422].includes(error.status));
      const hasMore = members.result !== undefined || members.executed_args !== undefined;
      if (!isRefused || !hasMore) throw error;
      const { attempt, outcome } = members;
      const note = `The result was not stored: ${error.message}`.slice(0, 1000);
      const shorter: JsonObject = { attempt, outcome, error: note };
      return await this.#report(id, item, JSON.stringify(shorter));
    }
  }

  async #report(id: string, item: string, body: string): Promise<ReportAnswer> {
    const options = { body, patienceSeconds: REPORT_PATIENCE_SECONDS };
    const path = itemPath(id, item, "report");
    return (await this.#transport.exchange("POST", path, options)) as ReportAnswer;
  }
}

function itemPath(id: string, item: string, action: string): string {
  return `/api/requests/${encodeURIComponent(id)}/items/${encodeURIComponent(item)}/${action}`;
}
