import type { SessionState } from '../../contract/wire.js';
import { messageOf } from '../../contract/errors.js';
import type { Description } from '../options.js';
import type { OpenerHooks, OpenerOptions } from '../worker-opener.js';
import type { OpenedWorker } from '../workers/slot.js';
import { browserEnvironment, holdLock, type ShareEnvironment } from './environment.js';
import { checkShare, shareName } from './share-key.js';
import { Share, type JoinOptions, type ShareOptions } from './share.js';

/** What a client with the option `share` has: a part in a share, or a session of its own. */
export interface Membership {
  /** Connects to the session of the share. Returns undefined if this page cannot share. @throws what `Client.initialize` throws; `aborted` */
  open(options: JoinOptions): Promise<OpenedWorker | undefined>;
  /** Settles when the client has left the share; undefined before `dispose`, and without a share. */
  readonly left?: Promise<void> | undefined;
  /** Returns what is different in the client's description. @param session what the shared session says of itself */
  describe(
    session: SessionState | undefined,
  ): Partial<Pick<Description, 'workers' | 'jobQueueStatus' | 'metrics' | 'sharing'>>;
}

/** Joins the share of the options' name. Where the browser lacks what that needs, the client is told, and has a session of its own. @throws `model-config`, `disposed` */
export async function join(
  options: OpenerOptions,
  hooks: OpenerHooks,
  onSession: ShareOptions['onSession'],
): Promise<Membership> {
  checkShare(options, { isBuiltIn: hooks.isPossible !== undefined });
  const environment = hooks.shareEnvironment ?? browserEnvironment();
  const reason = typeof environment === 'string' ? environment : await refusal(environment);
  if (reason !== undefined) {
    hooks.warn(`share: this page has a session of its own, which other tabs do not use: ${reason}`);
    return {
      open: () => Promise.resolve(undefined),
      describe: () => ({ sharing: { role: 'alone', reason } }),
    };
  }
  const name = await shareName(options);
  // Nobody would close the channel of a client that was disposed of meanwhile.
  hooks.disposed.throwIfAborted();
  return new Share(name, { ...hooks, onSession }, environment as ShareEnvironment);
}

/** Returns why this page may not use Web Locks: in a sandboxed frame they exist, but requests are refused. Returns undefined if it may. */
async function refusal({ locks, id }: ShareEnvironment): Promise<string | undefined> {
  try {
    await holdLock(locks, `tabserve/share/${id()}`, AbortSignal.abort());
    return undefined;
  } catch (error) {
    return `this page may not use Web Locks: ${messageOf(error)}`;
  }
}
