/** Errors of the client: each outcome of a request that is not an approval has its own class. */

import type { Item, RequestSet } from "./requests.js";

/** Anything that this package throws on purpose, except TypeErrors about arguments. */
export class SignoffError extends Error {
  override name = "SignoffError";
}

/** The address or the key of Signoff is missing, or must not be used as it is. */
export class ConfigurationError extends SignoffError {
  override name = "ConfigurationError";
}

/** Signoff gave no usable answer, in spite of retries. */
export class Unreachable extends SignoffError {
  override name = "Unreachable";
}

/** Signoff refused what was sent; `code` is for programs, `detail` for people. */
export class ApiError extends SignoffError {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The whole answer, for example with the `errors` by field. */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    detail: string,
    problem: Readonly<Record<string, unknown>> = {},
  ) {
    super(`${code}: ${detail}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.problem = problem;
  }
}

/** The time to wait is over; the request is still open. */
export class Pending extends SignoffError {
  override name = "Pending";
  readonly request: RequestSet<object>;

  constructor(request: RequestSet<object>) {
    super(
      `Nobody has decided request ${request.id} yet: ${request.url}. ` +
        "Wait for the same id to continue.",
    );
    this.request = request;
  }
}

/** The call must not run; `request` and `item` say why. */
export class NotApproved extends SignoffError {
  override name = "NotApproved";
  readonly item: Item<object>;

  constructor(message: string, item: Item<object>, options?: ErrorOptions) {
    super(message, options);
    this.item = item;
  }

  get request(): RequestSet<object> {
    return this.item.request;
  }
}

/** A person, a key or a policy said no; `reason` is the text of the denial, if there is one. */
export class Denied extends NotApproved {
  override name = "Denied";

  get reason(): string {
    return this.item.reason;
  }
}

/** The request expired before anybody decided. */
export class Expired extends NotApproved {
  override name = "Expired";
}

/** The request was withdrawn before it was decided. */
export class Withdrawn extends NotApproved {
  override name = "Withdrawn";
}

/** The approval was not used in time, or was revoked; ask again. */
export class Lapsed extends NotApproved {
  override name = "Lapsed";
}

/** The call was started and nobody knows how it ended; Signoff asks a person about it. */
export class InDoubt extends NotApproved {
  override name = "InDoubt";
}

/** Another attempt has this approval: it is running, or it has ended. */
export class AlreadyStarted extends NotApproved {
  override name = "AlreadyStarted";
}

/** The approved arguments cannot be used as they are; the call did not run. */
export class EditRefused extends NotApproved {
  override name = "EditRefused";
}
