import type { ExplainProgress } from '../../outputs/explanation.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { readOptions } from '../../shared/read-options.js';
import type { RequestOptions } from '../options.js';

/** The options of an explanation: those of every request, whose `params` have what is the handler's. */
export interface CheckedExplainOptions {
  readonly request: RequestOptions;
  readonly onProgress: ((progress: ExplainProgress) => void) | undefined;
}

/** Separates the options of every request from those that the handler gets. @throws `invalid-input` naming the option */
export function readExplainOptions(options: object): CheckedExplainOptions {
  const { signal, timeout, priority, transfer, params, onProgress, ...own } = readOptions<
    RequestOptions & Partial<CheckedExplainOptions>
  >(options, 'an object as options');
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw new TabServeError('invalid-input', `onProgress: expected a function, got ${describeValue(onProgress)}.`);
  const given = Object.entries({ signal, timeout, priority, transfer }).filter(([, value]) => value !== undefined);
  const common: object = params === undefined ? {} : readOptions(params, 'an object as params');
  return { request: { ...Object.fromEntries(given), params: { ...common, ...own } }, onProgress };
}
