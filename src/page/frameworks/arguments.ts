import { readOptions } from '../../shared/read-options.js';
import type { ClientOptions } from '../options/client-options.js';
import { oneOf } from '../options/values.js';
import type { WorkerFactory } from '../workers/worker-factory.js';
import type { Source } from './shared-client.js';

/**
 * Reads what `useModel` was called with: options, or a worker factory and options.
 * @param loadings the values of `loading`, the default first
 * @throws `model-config`
 */
export function readArguments<L extends string>(
  first: unknown,
  second: unknown,
  loadings: readonly L[],
): { readonly source: Source; readonly loading: L } {
  const [factory, given] = typeof first === 'function' ? [first as WorkerFactory, second] : [undefined, first];
  const { loading = loadings[0]!, ...options } = readOptions(
    given as ClientOptions & { readonly loading?: L },
    "options with the model's URL, such as { model: '/models/digits/' }",
    'model-config',
  );
  return { source: { factory, options }, loading: oneOf('loading', loadings, loading) };
}
