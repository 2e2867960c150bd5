/** Ask people for approval in Signoff, wait for the answer, and run what was approved once. */

export type { ReportMembers } from "./api.js";
export type { RunOptions, StartedCall, StartOptions } from "./calls.js";
export { type AskOptions, type ListFilters, Signoff } from "./client.js";
export {
  AlreadyStarted,
  ApiError,
  ConfigurationError,
  Denied,
  EditRefused,
  Expired,
  InDoubt,
  Lapsed,
  NotApproved,
  Pending,
  SignoffError,
  Unreachable,
  Withdrawn,
} from "./errors.js";
export type { Json, JsonObject } from "./json.js";
export { type Item, type RequestSet, type WaitOptions } from "./requests.js";
export type { Options } from "./settings.js";
export type {
  CallState,
  Effect,
  Execution,
  ItemMembers,
  ItemStatus,
  OneItem,
  Outcome,
  ReportAnswer,
  RequestStatus,
  SeveralItems,
} from "./wire.js";
