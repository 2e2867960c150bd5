/** The client. */

import { Api } from "./api.js";
import { ConfigurationError } from "./errors.js";
import { encode, type JsonObject, schemaLike } from "./json.js";
import { type Context, RequestSet, type WaitOptions } from "./requests.js";
import { type Options, readSettings } from "./settings.js";
import { Transport } from "./transport.js";
import type { ItemMembers, OneItem, RequestStatus, SeveralItems } from "./wire.js";

export interface AskOptions {
  /**
   * The program's own idempotency key: sent again, even by another process, it returns the same
   * request. Without one each call makes a request of its own.
   */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export interface ListFilters {
  readonly session?: string;
  readonly status?: RequestStatus;
  readonly agent?: string;
}

/**
 * Asks people in Signoff.
 *
 * Without arguments it reads SIGNOFF_URL, SIGNOFF_API_KEY and SIGNOFF_AGENT.
 */
export class Signoff {
  readonly #context: Context;
  readonly #agent: string;

  constructor(options: Options = {}) {
    const settings = readSettings(options);
    this.#agent = settings.agent;
    this.#context = {
      api: new Api(new Transport(settings)),
      warn: options.onWarning ?? ((message) => console.warn(message)),
    };
  }

  /**
   * Ask, and return at once; `members` are those of `POST /api/requests`.
   *
   * Throws TypeError for arguments that JSON does not have.
   */
  ask<Args extends object = JsonObject>(
    members: OneItem<Args>,
    options?: AskOptions,
  ): Promise<RequestSet<Args>>;
  ask(members: SeveralItems, options?: AskOptions): Promise<RequestSet>;
  async ask(members: OneItem<object> | SeveralItems, options: AskOptions = {}): Promise<RequestSet> {
    if (options.key === "") throw new ConfigurationError("The key of a request must not be empty.");
    const own = this.#agent ? { agent: this.#agent } : {};
    const body = { ...own, ...withSchemas(members) };
    const key = options.key ?? crypto.randomUUID();
    const text = encode(body, "the request");
    return new RequestSet(await this.#context.api.create(text, key, options.signal), this.#context);
  }

  /** Read a request, for example one of an earlier process. */
  async get(
    requestId: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<RequestSet> {
    const answer = await this.#context.api.read(requestId, options.signal);
    return new RequestSet(answer, this.#context);
  }

  /** Wait until the request with this id is decided or ends, for example after a crash. */
  async wait(requestId: string, options: WaitOptions = {}): Promise<RequestSet> {
    return await (await this.get(requestId, options)).wait(options);
  }

  /** Return the newest requests, by session, status or agent. */
  async list(
    filters: ListFilters = {},
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly RequestSet[]> {
    const rows = await this.#context.api.list({ ...filters }, options.signal);
    return rows.map((row) => new RequestSet(row, this.#context));
  }
}

/** Give each call that may be edited the schema of its own arguments, unless it has one. */
function withSchemas(members: OneItem<object> | SeveralItems): object {
  if (!("items" in members)) return withSchema(members);
  return { ...members, items: members.items.map(withSchema) };
}

function withSchema<Members extends ItemMembers>(members: Members): Members {
  if (!members.may_edit || !members.args || members.args_schema) return members;
  encode(members.args, "args");
  return { ...members, args_schema: schemaLike(members.args) };
}
