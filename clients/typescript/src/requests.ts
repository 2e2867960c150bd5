/** Requests and their items, as the server describes them. */

import type { Api } from "./api.js";
import { CallToRun, type RunOptions, type StartedCall, type StartOptions } from "./calls.js";
import {
  AlreadyStarted,
  Denied,
  Expired,
  InDoubt,
  Lapsed,
  NotApproved,
  Pending,
  Withdrawn,
} from "./errors.js";
import type { Json, JsonObject } from "./json.js";
import type { CallState, Effect, ItemAnswer, ItemStatus, RequestAnswer, RequestStatus } from "./wire.js";

/** What requests share with the client that made them. */
export interface Context {
  readonly api: Api;
  readonly warn: (message: string) => void;
}

export interface WaitOptions {
  /** No limit by default. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
}

/** A set of items that was sent at once. `Args` are the arguments of its only call. */
export class RequestSet<Args extends object = JsonObject> {
  readonly id: string;
  readonly status: RequestStatus;
  readonly url: string;
  readonly items: readonly Item<Args>[];
  /** An earlier call with the same key has asked. */
  readonly replayed: boolean;
  /** The call has joined an earlier request. */
  readonly attached: boolean;
  /** The whole answer, also with members of newer servers. */
  readonly raw: RequestAnswer;
  readonly #context: Context;

  constructor(answer: RequestAnswer, context: Context) {
    this.id = answer.id;
    this.status = answer.status;
    this.url = answer.url;
    this.items = answer.items.map((item) => new Item<Args>(item, this, context));
    this.replayed = answer.replayed ?? false;
    this.attached = answer.attached ?? false;
    this.raw = answer;
    this.#context = context;
  }

  get isOpen(): boolean {
    return this.status === "open";
  }

  /** The only item. */
  get item(): Item<Args> {
    const [item, ...others] = this.items;
    if (!item || others.length > 0) {
      throw new RangeError(`Request ${this.id} has ${this.items.length} items: use find(id).`);
    }
    return item;
  }

  /** Return the item with this id. */
  find(itemId: string): Item<Args> {
    const item = this.items.find(({ id }) => id === itemId);
    if (!item) throw new RangeError(`Request ${this.id} has no item ${JSON.stringify(itemId)}.`);
    return item;
  }

  /**
   * Wait until the request is decided or ends, and return it as it is then.
   *
   * Throws Pending if it is still open after `timeoutSeconds`; wait for its id again, from any
   * process. Aborting the signal ends the wait, not the request.
   */
  async wait({ timeoutSeconds = Infinity, signal }: WaitOptions = {}): Promise<RequestSet<Args>> {
    if (!(timeoutSeconds >= 0)) throw new RangeError("timeoutSeconds must be 0 or more.");
    if (!this.isOpen) return this;
    const answer = await this.#context.api.wait(this.id, timeoutSeconds, signal);
    const request = new RequestSet<Args>(answer, this.#context);
    if (request.isOpen) throw new Pending(request);
    return request;
  }

  /** Close what is open. Throws ApiError ALREADY_DECIDED if the request is decided. */
  async withdraw(
    reason = "",
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<RequestSet<Args>> {
    const answer = await this.#context.api.withdraw(this.id, reason, signal);
    return new RequestSet<Args>(answer, this.#context);
  }
}

/** One approval of a call, if it has a `tool`, or one question. */
export class Item<Args extends object = JsonObject> {
  readonly id: string;
  readonly status: ItemStatus;
  readonly tool: string | null;
  /** Of an approved call: what to execute. */
  readonly args: Args;
  readonly argsDigest: string;
  /** A reviewer has changed the arguments. */
  readonly edited: boolean;
  /** The answer as it was sent. */
  readonly payload: Json;
  /** What a person wrote with a denial, or empty. */
  readonly reason: string;
  /** The name of the person, key or policy that decided, or empty. */
  readonly decider: string;
  readonly decidedAt: string | null;
  /** Of an approved call: how far it is. */
  readonly state: CallState | null;
  readonly effect: Effect;
  readonly raw: ItemAnswer;
  readonly #request: RequestSet<Args>;
  readonly #context: Context;

  constructor(answer: ItemAnswer, request: RequestSet<Args>, context: Context) {
    this.id = answer.id;
    this.status = answer.status;
    this.tool = answer.tool;
    this.args = (answer.args ?? {}) as Args;
    this.argsDigest = answer.args_digest ?? "";
    this.edited = answer.edited;
    this.payload = answer.payload;
    this.reason = answer.reason ?? "";
    this.decider = answer.by?.name ?? "";
    this.decidedAt = answer.at;
    this.state = answer.state;
    this.effect = answer.effect ?? "once";
    this.raw = answer;
    this.#request = request;
    this.#context = context;
  }

  get request(): RequestSet<Args> {
    return this.#request;
  }

  /** The answer to a question: true or false, or what its schema describes. */
  get answer(): Json {
    if (this.status === "answered") return this.payload;
    if (this.status === "approved") return true;
    if (this.status === "denied" && this.payload !== null) return false;
    throw this.#refusal();
  }

  /** Throw the error that belongs to the item unless its call may start now. */
  requireApproval(): void {
    if (this.status !== "approved" || (this.state !== null && this.state !== "waiting")) {
      throw this.#refusal();
    }
  }

  /**
   * Start the approved call, run it once with the arguments that were approved, and report.
   *
   * An error of the function is thrown to the caller; for a `once` call it is reported as unknown,
   * and a person is asked whether it took effect.
   *
   * Throws Denied, Expired, Withdrawn, Lapsed, InDoubt, AlreadyStarted, EditRefused: the function
   * did not run.
   */
  async run<Result>(
    execute: (args: Args, call: StartedCall<Args>) => Result,
    options: RunOptions<Args> = {},
  ): Promise<Awaited<Result>> {
    return await new CallToRun(this, this.#context).run(execute, options);
  }

  /** Use up the approval; run what `args` of the result says, then report how it ended. */
  async start(options: StartOptions = {}): Promise<StartedCall<Args>> {
    return await new CallToRun(this, this.#context).start(options);
  }

  #refusal(): NotApproved {
    const subject = `The call of ${this.tool ?? this.id} in request ${this.request.id}`;
    const by = this.decider && ` by ${this.decider}`;
    const reason = this.reason && `: ${this.reason}`;
    if (this.state === "lapsed") {
      return new Lapsed(`${subject} was approved, but not started in time.`, this);
    }
    if (this.state === "in_doubt") {
      return new InDoubt(`${subject} was started; nobody knows how it ended.`, this);
    }
    if (this.state === "not_run") return new Withdrawn(`${subject} is not to run any more.`, this);
    switch (this.status) {
      case "approved":
        return new AlreadyStarted(`${subject} was started before: it is ${this.state}.`, this);
      case "denied":
        return new Denied(`${subject} was denied${by}${reason}`, this);
      case "withdrawn":
        return new Withdrawn(`${subject} was withdrawn${reason}`, this);
      case "expired":
        return new Expired(`${subject} expired before anybody decided.`, this);
      default:
        return new NotApproved(`${subject} is ${this.status}, not approved.`, this);
    }
  }
}
