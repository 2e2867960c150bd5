/** The address and the key of Signoff: from the caller, or from the environment. */

import { ConfigurationError } from "./errors.js";

export interface Options {
  /** SIGNOFF_URL by default. */
  readonly url?: string;
  /** SIGNOFF_API_KEY by default. */
  readonly apiKey?: string;
  /** The agent that asks, SIGNOFF_AGENT by default; the key of one agent needs none. */
  readonly agent?: string;
  /** Receives what went wrong beside a call, console.warn by default. */
  readonly onWarning?: (message: string) => void;
}

export interface Settings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly apiKey: string;
  readonly agent: string;
}

/** URL writes all addresses of the loopback interface in these forms. */
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Return the settings. Throws ConfigurationError for an address or key that must not be used. */
export function readSettings(options: Options): Settings {
  const environment =
    (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
  const apiKey = options.apiKey ?? environment["SIGNOFF_API_KEY"] ?? "";
  const url = checkUrl(options.url ?? environment["SIGNOFF_URL"] ?? "");
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new ConfigurationError("There is no usable API key. Set SIGNOFF_API_KEY.");
  }
  return { url, apiKey, agent: options.agent ?? environment["SIGNOFF_AGENT"] ?? "" };
}

/** Return the address without a slash at its end; http is accepted for this machine only. */
function checkUrl(text: string): string {
  if (!text) throw new ConfigurationError("Set SIGNOFF_URL to the address of Signoff.");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.search || url.hash) {
    throw new ConfigurationError("SIGNOFF_URL must be like https://signoff.example.com.");
  }
  if (url.username || url.password) {
    throw new ConfigurationError("SIGNOFF_URL must not have a user name or a password.");
  }
  if (url.protocol === "http:" && !LOOPBACK.includes(url.hostname)) {
    throw new ConfigurationError(
      "SIGNOFF_URL must begin with https://, because http:// would show the key to the network; " +
        `http:// is for this machine only, and ${url.hostname} is another one.`,
    );
  }
  return url.href.replace(/\/+$/, "");
}
