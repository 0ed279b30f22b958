import { unlessAborted } from '../../shared/abort.js';
import { withinLimit } from '../../shared/limit.js';
import { isError, messageOf, TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { wrongValue } from '../../shared/read-options.js';
import { readLocation } from '../options/model-location.js';
import { absoluteUrl } from '../options/values.js';
import type { OpenerOptions } from '../options/client-options.js';
import { browserEnvironment, holdLock, type ShareEnvironment } from './election.js';
import { SharedSender, type SharedSenderOptions } from './shared-sender.js';

export interface JoinOptions extends Pick<SharedSenderOptions, 'makeLocalSender' | 'metrics' | 'events'> {
  /** What sharing needs of the browser; or why that is missing. @default what the browser has */
  readonly environment: ShareEnvironment | string | undefined;
  /** Whether the worker is the built-in one. Two workers of the app's own differ only by the share's name. */
  readonly isBuiltIn: boolean;
  /** Aborts when nobody waits for it any more, and when the client is disposed of. */
  readonly signal: AbortSignal;
}

/** Why a page opens its own model, which other tabs do not use. */
export interface Alone {
  readonly alone: string;
}

/**
 * Joins the share of the options' name. Where the browser lacks what that needs, or refuses it, the client is told.
 * @throws `model-config`, `aborted`, `disposed`
 */
export async function join(options: OpenerOptions, joining: JoinOptions): Promise<SharedSender | Alone> {
  const { environment, isBuiltIn, events, signal } = joining;
  checkShare(options, isBuiltIn);
  try {
    const found = environment ?? browserEnvironment();
    return typeof found === 'string' ? alone(found, events) : await joinIn(found, options, joining);
  } catch (error) {
    const isOption = isError(error) && error instanceof TabServeError && error.code === 'model-config';
    if (signal.aborted || isOption) throw error;
    // A sandboxed frame, or a page whose site data are blocked, has what sharing needs, and may not use it.
    return alone(`the browser refuses it: ${messageOf(error)}`, events);
  }
}

/** A lock that nobody else asks for is granted at once, or never. */
const LOCK_MS = 5000;

function alone(reason: string, events: JoinOptions['events']): Alone {
  events.warn(`share: this page opens its own model, which it does not share with other tabs: ${reason}`);
  return { alone: reason };
}

async function joinIn(
  environment: ShareEnvironment,
  options: OpenerOptions,
  { makeLocalSender, metrics, events, signal }: JoinOptions,
): Promise<SharedSender> {
  const { locks, id, clock } = environment;
  // Where Web Locks are refused, this fails.
  const probe = (): Promise<void> => holdLock(locks, `tabserve/share/${id()}`, AbortSignal.abort());
  await withinLimit('Web Locks', probe, { milliseconds: LOCK_MS, clock, signal });
  const name = await unlessAborted(shareName(options), signal);
  const { maxRetryTimeoutInSec } = options;
  return new SharedSender({ name, environment, makeLocalSender, metrics, events, maxRetryTimeoutInSec });
}

/** Checks the option `share`, and whether it needs a name. @throws `model-config` */
function checkShare({ share, model }: OpenerOptions, isBuiltIn: boolean): void {
  if (share !== true && (typeof share !== 'string' || share === ''))
    throw wrongValue('share', 'true, false or a name', share, 'model-config');
  const { source } = readLocation(model);
  if (share === true && !isBuiltIn) throw needsName("the app's own worker");
  if (share === true && typeof source !== 'string') throw needsName('files that the visitor has chosen');
}

function needsName(what: string): TabServeError {
  return new TabServeError(
    'model-config',
    `share: with ${what} tabs cannot tell whether they have the same model. Give the share a name, such as share: 'birds', that only tabs with the same model use.`,
  );
}

/** Options that may differ between the tabs of a share. */
const PER_TAB = [
  'share',
  'verdicts',
  'maxRetryTimeoutInSec',
  'measureBudget',
] as const satisfies (keyof OpenerOptions)[];

/**
 * Returns the name of the locks and channels of a share: the same for clients of one version of the SDK whose options
 * are the same, and for no others. It is a hash, since options may hold a token.
 */
async function shareName(options: OpenerOptions): Promise<string> {
  const { share, model, assets } = options;
  const { source, dtype } = readLocation(model);
  const own = Object.entries(options).filter(([name]) => !PER_TAB.some((other) => other === name));
  const key = canonical({
    ...Object.fromEntries(own),
    version: VERSION,
    name: share,
    model: typeof source === 'string' ? source : 'files',
    dtype,
    assets: assets === undefined ? undefined : absoluteUrl(assets, 'assets'),
  });
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  return `tabserve/share/${Array.from(hash.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Returns JSON that does not depend on the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
