import type { Archive, Files, Manifest, ModelConfig } from '../contract/archive.js';
import type { Context, Params } from '../contract/handler.js';
import type { DecodeOptions, ImageInput } from '../contract/images.js';
import type { Session } from '../contract/tensors.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { Recorder } from './recorder.js';
import { createFiles } from '../models/files.js';
import { VERSION } from '../contract/version.js';

/** Pillow's limit: a quarter of a gigabyte of RGB. */
const MAX_PIXELS = 178_956_970;

export interface ContextOptions {
  /** The model's session, or sessions by their path in the archive; a stub will do in a test. */
  readonly session?: Session | Readonly<Record<string, Session>>;
  /** The archive's files by path. */
  readonly files?: Readonly<Record<string, Blob | Uint8Array | string>>;
  /** `model-config.yaml`, parsed. */
  readonly config?: ModelConfig;
  readonly manifest?: Manifest;
  /** Rows of the batch that the context is for. @default 1 */
  readonly batchSize?: number;
  /** Knobs of every row's request. */
  readonly params?: Params;
  readonly request?: Context['request'];
  readonly signal?: AbortSignal;
}

/**
 * A context for one batch, with which a handler runs anywhere: in a unit test under Node, with no worker and no browser.
 *
 * ```ts
 * const context = createContext({ session, files: { 'index_to_name.json': '{"0":"cat"}' } });
 * await handler.initialize(context);
 * const [result] = await handler.handle([input], context);
 * context.metrics.observations; // what the handler has recorded, in order
 * ```
 */
export function createContext(options: ContextOptions = {}): BatchContext {
  const { session, files = {}, config = {}, manifest = { model: { modelName: 'model' } } } = options;
  const open = async (path?: string): Promise<Session> => {
    const found =
      isSession(session) && path === undefined
        ? session
        : (session as Record<string, Session> | undefined)?.[path ?? manifest.model.serializedFile ?? ''];
    if (!found)
      throw new TabServeError(
        'model-not-found',
        `createContext was given no session${path === undefined ? '' : ` "${path}"`}.`,
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

function isSession(value: ContextOptions['session']): value is Session {
  return typeof value?.run === 'function';
}

/** What all batches of one handler share. */
export interface Surroundings {
  readonly modelDir: Archive['url'];
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  readonly files: Files;
  readonly open: Context['open'];
  readonly warn: Context['warn'];
}

/** A context that keeps what the handler records, for whoever made it. */
export interface BatchContext extends Context {
  readonly metrics: Recorder;
}

/** A batch, as far as its context needs to know it. */
export interface BatchOptions extends Pick<ContextOptions, 'batchSize' | 'request' | 'signal'> {
  /** One a row, and so are `params`. */
  readonly ids?: readonly string[];
  readonly params?: readonly Params[] | undefined;
  readonly metrics?: Recorder;
}

/** A fresh context for one batch. */
export function batchContext(surroundings: Surroundings, batch: BatchOptions): BatchContext {
  const { modelDir, manifest, config, files, open, warn } = surroundings;
  const { batchSize = 1, request = 'predict', signal = new AbortController().signal } = batch;
  const failures = new Map<number, Error>();
  const limit = config.handler?.['maxImagePixels'];
  const limitMaxImagePixels = typeof limit === 'number' ? limit : MAX_PIXELS;
  return {
    modelName: manifest.model.modelName,
    manifest,
    modelYamlConfig: config,
    systemProperties: { modelDir, batchSize, serverName: 'tabserve', serverVersion: VERSION, limitMaxImagePixels },
    request,
    requestIds: batch.ids ?? Array.from({ length: batchSize }, (_, index) => String(index)),
    params: batch.params ?? Array.from({ length: batchSize }, () => ({})),
    signal,
    files,
    metrics: batch.metrics ?? new Recorder(),
    now: () => performance.now(),
    open,
    async decodeImage(source: ImageInput, decodeOptions: DecodeOptions = {}) {
      const { decodeImage } = await import('../images/decode.js');
      return await decodeImage(source, { maxPixels: limitMaxImagePixels, ...decodeOptions });
    },
    fail(index, error) {
      if (!Number.isInteger(index) || index < 0 || index >= batchSize)
        throw new RangeError(`context.fail(${index}): the batch has rows 0 to ${batchSize - 1}.`);
      if (!failures.has(index)) failures.set(index, asTabServeError(error));
    },
    failures,
    warn,
  };
}
