import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { readLocation } from '../model-location.js';
import type { OpenerOptions } from '../worker-opener.js';
import { absoluteUrl } from '../url.js';

/** Options that make no difference to the session: each tab may have its own. */
const PER_TAB = [
  'share',
  'verdicts',
  'maxRetryTimeoutInSec',
  'measureBudget',
] as const satisfies (keyof OpenerOptions)[];

/**
 * Checks the option `share`, and whether it needs a name.
 * @param isBuiltIn whether the worker is the built-in one; one of the app's own is told apart by the share's name only
 * @throws `model-config`
 */
export function checkShare({ share, model }: OpenerOptions, { isBuiltIn }: { readonly isBuiltIn: boolean }): void {
  if (share !== true && (typeof share !== 'string' || share === ''))
    throw new TabServeError('model-config', `share: expected true, false or a name, got ${describeValue(share)}.`);
  const source = readLocation(model);
  if (share === true && !isBuiltIn) throw needsName("the app's own worker");
  if (share === true && typeof source !== 'string') throw needsName('files that the visitor has chosen');
}

/**
 * Returns the name of the locks and channels of a share: the same for clients of one version of the SDK whose options are the same, and for no others. It is a
 * hash, since options may hold a token.
 */
export async function shareName(options: OpenerOptions): Promise<string> {
  const { share, model, assets } = options;
  const source = readLocation(model);
  const own = Object.entries(options).filter(([name]) => !PER_TAB.some((other) => other === name));
  const key = canonical({
    ...Object.fromEntries(own),
    version: VERSION,
    name: share,
    model: typeof source === 'string' ? source : 'files',
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

function needsName(what: string): TabServeError {
  return new TabServeError(
    'model-config',
    `share: with ${what} tabs cannot tell whether they have the same model. Give the share a name, such as share: 'birds', that only tabs with the same model use.`,
  );
}
