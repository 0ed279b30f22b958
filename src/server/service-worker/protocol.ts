/** What a service worker and the pages that host models say to each other: messages, names of locks, headers. */

/**
 * The version of the messages. Raise it if their meaning changes: a service worker does not ask pages of another
 * version.
 */
export const PROTOCOL = 2;

/** How the requests to one model are answered. */
export const POLICIES = ['device-first', 'server-first', 'device-only'] as const;

/**
 * How the requests to one model are answered:
 *
 * - `device-first`: by the device; by the server until the model is ready, and where the device fails.
 * - `server-first`: by the server; by the device if the server cannot be reached, answers 5xx, or takes too long.
 * - `device-only`: by the device. Nothing is sent to the server, also while no page hosts the model.
 */
export type Policy = (typeof POLICIES)[number];

/** Who answered, as `TabServe-Answered-By` says: `none` is the service worker itself, when nobody else could. */
export type AnsweredBy = 'device' | 'server' | 'none';

/** The header of each response that says who answered. */
export const ANSWERED_BY = 'TabServe-Answered-By';

/**
 * The header of each response that says why: a policy if it was followed, or why the side that should have answered
 * could not.
 */
export const REASON = 'TabServe-Reason';

/** The reasons why a side could not answer, with a sentence for each. */
export const FAILURES = {
  'no-host': 'No page hosts models at the moment.',
  'other-version': 'The pages that host models are of another version of the app: reload them.',
  'no-answer': 'The pages that host models did not answer in time.',
  'unknown-model': 'No page hosts this model, or this version of it.',
  'not-ready': 'The model is not ready on the pages that host it.',
  'host-lost': 'The page that answered was closed, or no longer responds.',
  'device-failed': 'The model on the device answered with an error.',
  'device-timeout': 'The model on the device took too long.',
  'body-too-large': "The request's body is larger than `maxRequestSize`.",
  'server-unreachable': 'The server cannot be reached.',
  'server-failed': 'The server answered with an error.',
  'server-timeout': 'The server took longer than `serverTimeout`.',
} as const;

/** Why a side could not answer a request. */
export type Failure = keyof typeof FAILURES;

/**
 * The first message to a page; the other side of the port comes with it. Every version of the protocol has `tabserve`
 * and `protocol`.
 */
export interface Ask {
  readonly tabserve: 'ask';
  readonly protocol: number;
  readonly method: string;
  /** The path and query after the base, such as `/predictions/digits/1.0`. */
  readonly path: string;
  /** The model that the path names. */
  readonly model?: string | undefined;
  readonly version?: string | undefined;
}

/** A page asks the active service worker to control it. The policies come back on the port. */
export interface Claim {
  readonly tabserve: 'claim';
}

/** The answer to a `Claim`. */
export interface Policies {
  /** The URL at which the paths of the API begin. */
  readonly base: string;
  readonly models: Readonly<Record<string, Policy>>;
}

/**
 * A page has the service worker answer a request to a `device-only` model. The other side of the port comes with it,
 * and on the port the page says and hears what a service worker does after an `Ask`.
 */
export interface DeviceOnlyRequest {
  readonly tabserve: 'device-only';
  readonly protocol: number;
  readonly base: string;
  readonly model: string | undefined;
  readonly method: string;
  readonly url: string;
}

/** What the service worker sends on the port. */
export type ToHost =
  | { readonly type: 'send'; readonly headers: readonly Header[]; readonly body: Blob | undefined }
  | { readonly type: 'ping' }
  /** It no longer waits: another page has accepted, or the request was aborted. */
  | { readonly type: 'cancel' };

/** What the page sends on the port. */
export type FromHost =
  | { readonly type: 'accept'; readonly host: string }
  | { readonly type: 'decline'; readonly host: string; readonly failure: Failure }
  | { readonly type: 'pong' }
  /** The page no longer hosts: it is being closed or frozen, or its app has stopped hosting. */
  | { readonly type: 'leave' }
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly statusText: string;
      readonly headers: readonly Header[];
      /** `parts` if the body follows in messages of its own, because it is read while it is written. */
      readonly body: ArrayBuffer | 'parts' | undefined;
    }
  | { readonly type: 'part'; readonly bytes: Uint8Array }
  /** The body has ended, completely or in the middle. */
  | { readonly type: 'end'; readonly complete: boolean };

export type Header = readonly [name: string, value: string];

/** Milliseconds within which a page accepts or declines. */
export const MAX_HANDSHAKE_MS = 2_000;
/** Milliseconds between two pings of a page that is answering. */
export const PING_MS = 2_000;
/** Milliseconds without a message after which a page counts as lost. */
export const MAX_SILENCE_MS = 10_000;
/** Milliseconds that an answer of the device may take: `responseTimeout` of TorchServe. */
export const MAX_ANSWER_MS = 120_000;
/** Milliseconds for the browser's own answers: which locks and which pages there are. */
export const MAX_BROWSER_MS = 2_000;

/**
 * Returns the name of the lock that a page holds for as long as it hosts. The browser releases it when the page ends,
 * however that happens, so a service worker that was stopped and started again finds the hosting pages, and learns at once that
 * one is gone.
 */
export function lockName(host: string, scope: string, protocol = PROTOCOL): string {
  return `tabserve-host/${protocol}/${host}/${scope}`;
}

/** Reads a lock's name; undefined for the lock of somebody else. */
export function pageOfLock(
  name: string | undefined,
): { readonly protocol: number; readonly host: string; readonly scope: string } | undefined {
  const [, protocol, host, scope] = /^tabserve-host\/(\d+)\/([^/]+)\/(.*)$/.exec(name ?? '') ?? [];
  return host === undefined ? undefined : { protocol: Number(protocol), host, scope: scope! };
}
