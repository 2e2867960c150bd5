/** What the REST API takes and answers, with its names; docs/api.md has the meaning. */

import type { Json, JsonObject } from "./json.js";

export type RequestStatus = "open" | "decided" | "done" | "withdrawn" | "expired" | "lapsed";
export type ItemStatus = "open" | "approved" | "denied" | "answered" | "withdrawn" | "expired";
export type CallState =
  | "waiting"
  | "started"
  | "succeeded"
  | "failed"
  | "in_doubt"
  | "lapsed"
  | "handed_over"
  | "not_run";
export type Effect = "once" | "idempotent";
export type Outcome = "succeeded" | "failed" | "unknown";

export interface Execution {
  readonly report?: boolean;
  /** `once`, the default, for a call that must not happen twice. */
  readonly effect?: Effect;
  readonly lease_seconds?: number;
  readonly valid_seconds?: number;
}

/** One approval of a call, if it has a `tool`, or one question. */
export interface ItemMembers<Args extends object = object> {
  /** The program's own id, unique in the request. */
  readonly id?: string;
  readonly title?: string;
  readonly tool?: string;
  readonly args?: Args;
  readonly why?: string;
  /** True if people may change the arguments. */
  readonly may_edit?: boolean;
  /** The JSON Schema of changed arguments; by default they keep the shape of `args`. */
  readonly args_schema?: object;
  /** The JSON Schema of the answer to a question; without it, yes or no. */
  readonly answer_schema?: object;
  readonly metadata?: object;
  readonly execution?: Execution;
}

/** What belongs to all items of a request. */
export interface SharedMembers {
  readonly agent?: string;
  readonly session?: { readonly id: string; readonly title?: string };
  readonly requester?: { readonly name: string; readonly url?: string };
  readonly context?: { readonly messages: readonly object[] };
  /** Seconds; null for never, a day by default. */
  readonly expires_in?: number | null;
  readonly callback_url?: string;
  readonly references?: readonly Reference[];
  readonly secret_paths?: readonly string[];
  readonly attach?: boolean;
}

export interface Reference {
  readonly name: string;
  readonly url: string;
  readonly media_type?: string;
  readonly sha256?: string;
}

export interface OneItem<Args extends object> extends SharedMembers, ItemMembers<Args> {
  readonly call_id?: string;
}

export interface SeveralItems extends SharedMembers {
  readonly items: readonly ItemMembers[];
  readonly execution?: Execution;
}

export interface ItemAnswer {
  readonly id: string;
  readonly interrupt: string;
  readonly status: ItemStatus;
  readonly tool: string | null;
  readonly edited: boolean;
  readonly args: JsonObject | null;
  readonly args_digest: string | null;
  readonly payload: Json;
  readonly reason: string | null;
  readonly by: { readonly kind: string; readonly name: string } | null;
  readonly at: string | null;
  readonly call: string | null;
  readonly state: CallState | null;
  readonly start_before: string | null;
  readonly lease_until: string | null;
  readonly effect: Effect | null;
  readonly report: boolean | null;
}

export interface RequestAnswer {
  readonly id: string;
  readonly status: RequestStatus;
  readonly url: string;
  readonly agent: string;
  readonly team: string;
  readonly session: { readonly id: string; readonly title: string } | null;
  readonly thread: string;
  readonly run: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly asked: { readonly people: number; readonly notified: number };
  readonly items: readonly ItemAnswer[];
  readonly decided: number;
  readonly of: number;
  readonly next_poll_seconds: number;
  readonly replayed?: boolean;
  readonly attached?: boolean;
}

export interface StartAnswer {
  readonly state: "started";
  readonly replayed: boolean;
  readonly args: JsonObject;
  readonly idempotency_key: string;
  readonly lease_until: string | null;
}

export interface ReportAnswer {
  readonly state: CallState;
  readonly replayed: boolean;
  readonly late?: boolean;
}

export interface Page<Row> {
  readonly results: readonly Row[];
}
