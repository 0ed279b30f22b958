import type { Manifest, ModelConfig } from '../contract/archive.js';
import type { Context, Params } from '../contract/handler.js';
import type { Session } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import { createFiles } from '../models/files.js';
import { batchContext, type BatchContext } from './context.js';

/** What a test gives a handler in place of a model archive and a page. */
export interface TestContextOptions {
  /** The model's session, or sessions by their path in the archive; a stub is enough. */
  readonly session?: Session | Readonly<Record<string, Session>>;
  /** The archive's files by path. */
  readonly files?: Readonly<Record<string, Blob | Uint8Array | string>>;
  /** `model-config.yaml`, parsed. */
  readonly config?: ModelConfig;
  /** The archive's manifest. */
  readonly manifest?: Manifest;
  /** Rows of the batch that the context is for. @default 1 */
  readonly batchSize?: number;
  /** The parameters of every row's request. */
  readonly params?: Params;
  /** What is asked for. @default 'predict' */
  readonly request?: Context['request'];
  /** Aborts the batch. */
  readonly signal?: AbortSignal;
}

/**
 * Creates a context for one batch, with which a handler runs anywhere: in a unit test under Node, with no worker and no browser.
 *
 * ```ts
 * const context = createTestContext({ session, files: { 'index_to_name.json': '{"0":"cat"}' } });
 * await handler.initialize(context);
 * const [result] = await handler.handle([input], context);
 * context.metrics.observations; // what the handler has recorded, in order
 * ```
 */
export function createTestContext(options: TestContextOptions = {}): BatchContext {
  const { session, files = {}, config = {}, manifest = { model: { modelName: 'model' } } } = options;
  const open = async (path?: string): Promise<Session> => {
    const found =
      isSession(session) && path === undefined
        ? session
        : (session as Record<string, Session> | undefined)?.[path ?? manifest.model.serializedFile ?? ''];
    if (!found)
      throw new TabServeError(
        'model-not-found',
        `createTestContext was given no session${path === undefined ? '' : ` "${path}"`}.`,
      );
    return await Promise.resolve(found);
  };
  const { batchSize = 1, params, ...batch } = options;
  const rows = params && Array.from({ length: batchSize }, () => params);
  return batchContext(
    { modelDir: '', manifest, config, files: createFiles(files), open, warn: (message) => console.warn(message) },
    { ...batch, batchSize, params: rows },
  );
}

function isSession(value: TestContextOptions['session']): value is Session {
  return typeof value?.run === 'function';
}
