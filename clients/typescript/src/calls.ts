/** Approved calls: use up the approval, keep its lease while the call runs, and report. */

import type { ReportMembers } from "./api.js";
import {
  AlreadyStarted,
  ApiError,
  EditRefused,
  InDoubt,
  Lapsed,
  NotApproved,
  SignoffError,
} from "./errors.js";
import { digest, encode } from "./json.js";
import type { Context, Item } from "./requests.js";
import type { Effect, Outcome, ReportAnswer, StartAnswer } from "./wire.js";

const LEASE_SECONDS = 600;
const LONGEST_ERROR = 2000;

const REFUSALS: Readonly<Record<string, typeof NotApproved>> = {
  CALL_STARTED: AlreadyStarted,
  ALREADY_REPORTED: AlreadyStarted,
  APPROVAL_LAPSED: Lapsed,
  IN_DOUBT: InDoubt,
  NOT_APPROVED: NotApproved,
  ARGUMENTS_DIFFER: NotApproved,
  DECISION_NOT_VERIFIED: NotApproved,
};

export interface StartOptions {
  /** The time to report, or to start again with the same attempt. 600 by default. */
  readonly leaseSeconds?: number;
  readonly signal?: AbortSignal;
}

export interface RunOptions<Args extends object> extends StartOptions {
  /**
   * Throws for arguments that must not be used; then the call does not run. For arguments that a
   * reviewer may have changed, such as `(args) => schema.parse(args)` of Zod.
   */
  readonly check?: (args: Args) => unknown;
}

/** The permit to run a call once, with the arguments that were approved. */
export interface StartedCall<Args extends object> {
  readonly args: Args;
  readonly attempt: string;
  /** Unique for this call; pass it on to services that take one. */
  readonly idempotencyKey: string;
  /** Use the approval for another lease. */
  prolong(): Promise<void>;
  /** `failed` says that the call had no effect; `unknown` that nobody knows. */
  report(outcome: Outcome, more?: Omit<ReportMembers, "attempt" | "outcome">): Promise<ReportAnswer>;
}

/** The call of one item. */
export class CallToRun<Args extends object> {
  readonly #item: Item<Args>;
  readonly #context: Context;

  constructor(item: Item<Args>, context: Context) {
    this.#item = item;
    this.#context = context;
  }

  async run<Result>(
    execute: (args: Args, call: StartedCall<Args>) => Result,
    { check, ...options }: RunOptions<Args>,
  ): Promise<Awaited<Result>> {
    const call = await this.start(options);
    await this.#check(call, check);
    const release = this.#keepLease(call, options.leaseSeconds ?? LEASE_SECONDS);
    let result: Awaited<Result>;
    try {
      result = await execute(call.args, call);
    } catch (error) {
      await this.#report(call, outcomeOf(this.#item.effect), { error: describe(error) });
      throw error;
    } finally {
      release();
    }
    await this.#report(call, "succeeded", reportable(result));
    return result;
  }

  async start({ leaseSeconds = LEASE_SECONDS, signal }: StartOptions): Promise<StartedCall<Args>> {
    const item = this.#item;
    item.requireApproval();
    await this.#requireDigest(item.args);
    const attempt = crypto.randomUUID();
    const answer = await this.#start(attempt, leaseSeconds, signal);
    const { api } = this.#context;
    const call: StartedCall<Args> = {
      args: answer.args as Args,
      attempt,
      idempotencyKey: answer.idempotency_key,
      prolong: async () => void (await this.#start(attempt, leaseSeconds, undefined)),
      report: async (outcome, more = {}) =>
        await api.report(item.request.id, item.id, { attempt, outcome, ...more }),
    };
    try {
      await this.#requireDigest(call.args);
    } catch (error) {
      await this.#report(call, "failed", { error: describe(error) });
      throw error;
    }
    return call;
  }

  async #start(
    attempt: string,
    leaseSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<StartAnswer> {
    const item = this.#item;
    const members = { attempt, args_digest: item.argsDigest, lease_seconds: leaseSeconds };
    try {
      return await this.#context.api.start(item.request.id, item.id, members, signal);
    } catch (error) {
      const kind = error instanceof ApiError ? REFUSALS[error.code] : undefined;
      if (kind) throw new kind((error as ApiError).message, item, { cause: error });
      throw error;
    }
  }

  /** Throw EditRefused unless these are the approved arguments, as this program reads them. */
  async #requireDigest(args: Args): Promise<void> {
    if ((await digest(args)) !== this.#item.argsDigest) {
      throw new EditRefused(
        "Not run: the arguments that arrived are not the approved ones. Something between this " +
          "program and Signoff has changed them, or JavaScript has no such number.",
        this.#item,
      );
    }
  }

  async #check(call: StartedCall<Args>, check?: (args: Args) => unknown): Promise<void> {
    try {
      await check?.(structuredClone(call.args));
    } catch (error) {
      await this.#report(call, "failed", { error: describe(error) });
      throw new EditRefused(`Not run: ${describe(error)}`, this.#item, { cause: error });
    }
  }

  /** Report what has happened; a failure to do so must not hide it from the caller. */
  async #report(
    call: StartedCall<Args>,
    outcome: Outcome,
    more: { readonly result?: unknown; readonly error?: string },
  ): Promise<void> {
    if (this.#item.raw.report === false) return;
    try {
      await call.report(outcome, more);
    } catch (error) {
      if (!(error instanceof SignoffError)) throw error;
      this.#context.warn(`A call ended, and Signoff could not be told how: ${error.message}`);
    }
  }

  /** Prolong the lease again and again; return the function that ends it. */
  #keepLease(call: StartedCall<Args>, leaseSeconds: number): () => void {
    if (this.#item.raw.report === false) return () => undefined;
    const prolong = (): void => {
      call.prolong().catch((error: unknown) => {
        this.#context.warn(`The lease of a call could not be prolonged: ${describe(error)}`);
      });
    };
    const timer = setInterval(prolong, (leaseSeconds * 1000) / 3);
    return () => clearInterval(timer);
  }
}

/** An error says nothing about the effect; only of a call that may be repeated that is no matter. */
function outcomeOf(effect: Effect): Outcome {
  return effect === "idempotent" ? "failed" : "unknown";
}

/** Return the result if JSON has it; what has no JSON is no reason to lose the outcome. */
function reportable(result: unknown): { readonly result?: unknown } {
  if (result === undefined) return {};
  try {
    encode(result, "the result");
    return { result };
  } catch {
    return {};
  }
}

/** Return the kind and the text of an error, of bounded length. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, LONGEST_ERROR);
  return (error.message ? `${error.name}: ${error.message}` : error.name).slice(0, LONGEST_ERROR);
}
