import { abortError, unlessAborted } from '../../../shared/abort.js';
import type { Clock } from '../../../shared/clock.js';

/** How long other tabs wait for a tab that holds a lock and reports no progress. */
const SILENCE_MS = 10_000;
/** The shortest time between two messages to the tabs that wait. */
const MESSAGE_MS = 250;

/** Called with the bytes of a download so far. */
export type OnBytes = (loaded: number, total: number | undefined) => void;

export interface LockOptions {
  /** Undefined where the browser has none, in an insecure context. */
  readonly locks: Pick<LockManager, 'request'> | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called with the progress of the download, whichever tab makes it. */
  readonly onBytes: OnBytes;
  /** The lock, if it was free: see `takeFileLock`. The caller that took it releases it. */
  readonly taken?: Promise<Release | undefined> | undefined;
}

/** Gives a lock back. */
type Release = () => void;

/**
 * Takes a file's lock if no other tab has it. Resolves with its release; with undefined if another tab has it, or it is
 * refused.
 */
export function takeFileLock(name: string, locks: Pick<LockManager, 'request'>): Promise<Release | undefined> {
  return new Promise((resolve) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock) return new Promise<void>((release) => resolve(release));
        resolve(undefined);
        return undefined;
      })
      .catch(() => resolve(undefined));
  });
}

/**
 * Downloads a file while no other tab downloads it: waits until another one has finished, or was closed. Its progress
 * is reported as if it were this tab's. Where there are no locks (an insecure context, a sandboxed frame), or if the
 * other tab reports no progress for ten seconds, it downloads at the same time.
 * @param work downloads the file, and calls its first argument with its progress; the second one says whether this
 *   tab has the lock: at once (`free`), after another tab (`waited`), or not
 * @throws what `work` throws; `aborted`
 */
export async function withFileLock<T>(
  name: string,
  work: (onBytes: OnBytes, lock: 'free' | 'waited' | undefined) => Promise<T>,
  { locks, clock, signal, onBytes, taken }: LockOptions,
): Promise<T> {
  if (signal?.aborted) throw abortError(signal);
  const channel = new BroadcastChannel(name);
  let reported = 0;
  // If another tab's download is given up, this tab's begins anew, but the reported progress does not decrease.
  const report: OnBytes = (loaded, total) => onBytes((reported = Math.max(reported, loaded)), total);
  const waiting = new AbortController();
  let cancel = (): void => {};
  const wait = (): void => {
    cancel();
    cancel = clock.schedule(() => waiting.abort(), SILENCE_MS);
  };
  let running: Promise<T> | undefined;
  const run = (lock: 'free' | 'waited' | undefined): Promise<T> => {
    channel.onmessage = null;
    cancel();
    return (running ??= work(teller(channel, clock, report), lock));
  };
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isProgress(data)) return;
    wait();
    report(data.loaded, data.total);
  };
  wait();
  try {
    if (!locks) return await run(undefined);
    const signals = signal ? AbortSignal.any([signal, waiting.signal]) : waiting.signal;
    if (taken && (await unlessAborted(taken, signals))) return await run('free');
    return await locks.request(name, { signal: signals }, () => run('waited'));
  } catch {
    // The lock may be refused, or taken away; the download continues without it.
    if (running) return await running;
    if (signal?.aborted) throw abortError(signal);
    return await run(undefined);
  } finally {
    cancel();
    channel.close();
  }
}

/** Returns a function that reports progress here, and sometimes to the tabs that wait. */
function teller(channel: BroadcastChannel, clock: Clock, report: OnBytes): OnBytes {
  let toldAt = -Infinity;
  return (loaded, total) => {
    report(loaded, total);
    if (clock.now() - toldAt < MESSAGE_MS) return;
    toldAt = clock.now();
    channel.postMessage({ loaded, total });
  };
}

/** Returns whether a message is one of ours: any script of this origin can send others. */
function isProgress(data: unknown): data is { readonly loaded: number; readonly total: number | undefined } {
  const { loaded, total } = (data ?? {}) as { readonly loaded?: unknown; readonly total?: unknown };
  return typeof loaded === 'number' && (total === undefined || typeof total === 'number');
}
