/** The messages between the tabs of a share, on BroadcastChannels: only types. */
import type { Archive, Progress } from '../../contract/archive.js';
import type { Backend, Probe } from '../../contract/backends.js';
import type { WorkerEvent } from '../../contract/wire.js';
import type { Packed } from './pack.js';

/**
 * On the channel of all tabs.
 *
 * - `host`: this client hosts the session from now on.
 * - `hello`: this guest looks for the host, and listens on a channel of its own.
 */
export type LobbyMessage =
  | { readonly type: 'host'; readonly host: string }
  | { readonly type: 'hello'; readonly guest: string };

/**
 * To the host, on a guest's own channel.
 *
 * - `ping`: the host is asked whether it is alive. Messages reach a tab in the background without delay; its timers are late.
 * - `call`: a message of comlink.
 */
export type GuestMessage =
  | { readonly type: 'ping'; readonly guest: string }
  | { readonly type: 'call'; readonly guest: string; readonly data: Packed };

/** To a guest, on its own channel. */
export type HostMessage =
  | { readonly type: 'pong'; readonly host: string }
  | { readonly type: 'opening'; readonly host: string; readonly progress: Progress | undefined }
  | { readonly type: 'open'; readonly host: string; readonly session: SessionInfo }
  | { readonly type: 'answer'; readonly host: string; readonly data: Packed }
  | { readonly type: 'event'; readonly host: string; readonly event: WorkerEvent }
  /** A call could not be read here, or its answer not be sent. */
  | { readonly type: 'unreadable'; readonly host: string };

/** What every tab knows of the session. */
export interface SessionInfo {
  readonly backend: Backend;
  readonly probe: Probe | undefined;
  /** Without its files: the host alone has them. */
  readonly archive: Archive;
}
