/** The messages between the tabs of a share, on BroadcastChannels: only types. */
import type { Archive, Progress } from '../../contract/archive.js';
import type { Backend, Probe } from '../../contract/backends.js';
import type { ErrorData } from '../../contract/error-data.js';
import type { Params } from '../../contract/handler.js';
import type { HttpAnswer, HttpRequestData } from '../../contract/http.js';
import type { Envelope, HandleRequest } from '../../contract/wire.js';
import type { JobAnswer } from '../requests/job.js';
import type { Chunk } from '../requests/chunks.js';
import type { Recovery } from '../requests/sender.js';

/**
 * On the channel of all tabs.
 *
 * - `host`: this tab runs the shared model from now on.
 * - `hello`: this guest tab looks for the host tab, and listens on a channel of its own.
 */
export type LobbyMessage =
  | { readonly type: 'host'; readonly host: string }
  | { readonly type: 'hello'; readonly guest: string };

/**
 * To the host tab, on a guest tab's own channel.
 *
 * - `heartbeat`: the host tab is asked whether it is alive. Messages reach a tab in the background without delay; its timers
 *   are late.
 * - `more`: there is room for one more chunk of a streamed answer.
 * - `ask`: a question that does not wait in the queue.
 */
export type GuestMessage =
  | { readonly type: 'heartbeat' }
  | { readonly type: 'request'; readonly id: string; readonly request: SharedRequest }
  | { readonly type: 'cancel' | 'more'; readonly id: string }
  | { readonly type: 'ask'; readonly id: string; readonly question: 'describe' | 'ping' };

/**
 * To a guest tab, on its own channel. Each has the id of the host tab that has sent it.
 *
 * - `http`: what the handler says of an answer over HTTP, before the answer.
 * - `answer`: to a request or a question.
 * - `unreadable`: a message could not be read here, or an answer could not be sent.
 */
export type HostMessage = { readonly host: string } & (
  | { readonly type: 'heartbeat' | 'unreadable' }
  | { readonly type: 'opening'; readonly progress: Progress | undefined }
  | { readonly type: 'open'; readonly model: SharedModel }
  | (Chunk & { readonly type: 'chunk'; readonly id: string })
  | { readonly type: 'http'; readonly id: string; readonly answer: HttpAnswer }
  | { readonly type: 'answer'; readonly id: string; readonly answer: Envelope<unknown> }
  | { readonly type: 'event'; readonly event: SharedModelEvent }
);

/** What every tab knows of the shared model. */
export interface SharedModel {
  readonly backend: Backend;
  readonly probe: Probe | undefined;
  /** Without its files: the host tab alone has them. */
  readonly archive: Archive;
}

/** What happens to the shared model: it runs on another backend, has replaced a lost worker, or something is wrong. */
export type SharedModelEvent =
  | { readonly type: 'backend'; readonly backend: Backend }
  | { readonly type: 'recover'; readonly recovery: Omit<Recovery, 'cause'> & { readonly cause: ErrorData } }
  | { readonly type: 'warn'; readonly message: string };

/** A request of another tab. */
export interface SharedRequest extends Pick<HandleRequest, 'request' | 'rows'> {
  readonly params: Params;
  readonly priority: number;
  readonly exclusive: boolean;
  /** Whether an earlier host tab has accepted it, so that it needs no slot in the queue. */
  readonly isReplay: boolean;
  /** The number of chunks for which the guest tab has room; undefined if the request is not streamed. */
  readonly room: number | undefined;
  /** What came with the last chunk that the guest tab has; undefined if the answer begins. */
  readonly resumed: unknown;
  /** The sequence that it belongs to, with its state. */
  readonly sequence: { readonly id: string; readonly state: unknown } | undefined;
  /** The request over HTTP that has brought it. */
  readonly http: HttpRequestData | undefined;
}

/** The answer to a request, with the milliseconds that it was in the shared model's queue. */
export interface SharedAnswer extends JobAnswer {
  readonly queued: number;
}
