/** `pipeline(task, model)`, with the call shapes of transformers.js. */
import type { Progress } from '../../contract/archive.js';
import type { BackendName } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import type { ModelInfo } from '../../contract/handler.js';
import type { Precision } from '../../contract/precisions.js';
import { isPlainObject } from '../../shared/is-plain-object.js';
import { load, type LoadOptions } from '../client/connect.js';
import type { PipelineCalls, PipelineTask } from './calls.js';
import { addressOf, optionsOf } from './inputs.js';
import { ALIASES, TASKS } from './tasks.js';

type Alias = keyof typeof ALIASES;
type TaskOf<Name extends PipelineTask | Alias> = Name extends Alias ? (typeof ALIASES)[Name] : Name;

/** `device` of transformers.js, as candidates. `auto` and `gpu` leave the choice to the SDK. */
const BACKENDS: Readonly<Record<string, readonly BackendName[] | undefined>> = {
  auto: undefined,
  gpu: undefined,
  wasm: ['wasm'],
  webgpu: ['webgpu'],
  webnn: ['webnn'],
};

/** What a pipeline needs of a client, such as that of `load` here or in `tabserve/node`. */
interface PipelineClient {
  describe(): Promise<ModelInfo>;
  handle(rows: readonly never[], options?: never): Promise<readonly unknown[]>;
  dispose(): Promise<void>;
}

/** A message of `progress_callback`. */
export interface PipelineProgress {
  readonly status: 'progress';
  readonly file: string;
  readonly loaded: number;
  readonly total: number | undefined;
  /** In 0..100; undefined while the size is unknown. */
  readonly progress: number | undefined;
}

/** The options of transformers.js that have the same meaning here, and those of `load`. */
export interface PipelineOptions extends Omit<LoadOptions<never>, 'handler'> {
  readonly device?: 'auto' | 'gpu' | 'wasm' | 'webgpu' | 'webnn';
  readonly dtype?: Precision;
  /** A branch, a tag or a commit. @default 'main' */
  readonly revision?: string;
  readonly progress_callback?: (message: PipelineProgress) => void;
}

/** A function that runs a model. */
export type Pipeline<Task> = (Task extends PipelineTask ? PipelineCalls[Task] : never) & {
  readonly task: Task;
  /** Ends the worker. */
  readonly dispose: () => Promise<void>;
};

/**
 * Loads a model for a task, and returns a function that is called as in transformers.js.
 * @param model a repository of the Hub by its name, `ORG/NAME`; a URL, or a path that begins with `/` or `./`; or a client,
 *   which the pipeline disposes of
 * @throws `invalid-input` for a task or an option that is not known; `model-config` if the model is for another task; what
 *   `load` throws
 */
export async function pipeline<Name extends PipelineTask | Alias>(
  name: Name,
  model: string | URL | PipelineClient,
  options?: PipelineOptions | null,
): Promise<Pipeline<TaskOf<Name>>> {
  const task = Object.hasOwn(ALIASES, name) ? ALIASES[name as Alias] : (name as PipelineTask);
  if (!Object.hasOwn(TASKS, task))
    throw new TabServeError(
      'invalid-input',
      `task: expected ${Object.keys(TASKS).join(', ')}, got ${name}. load opens models of other tasks.`,
    );
  if (model === undefined || model === null)
    throw new TabServeError(
      'invalid-input',
      'model: expected a repository, a URL or a client. No task has a default model.',
    );
  const { handler, handlers = [handler], readerOf } = TASKS[task];
  let { read } = TASKS[task];
  const given = optionsOf(options);
  const unused = isClient(model) ? Object.keys(given)[0] : undefined;
  if (unused !== undefined)
    throw new TabServeError('invalid-input', `${unused}: a client has its options already. Pass it to load.`);
  const client = isClient(model) ? model : await opened(model, handler, given);
  try {
    const found = (await client.describe()).handler;
    if (!handlers.includes(found))
      throw new TabServeError(
        'model-config',
        `${task} reads the results of ${handlers.join(' or ')}, and the model's handler is ${found}.`,
      );
    read ??= readerOf!(found);
  } catch (error) {
    // What was wrong first is told.
    await client.dispose().catch(() => {});
    throw error;
  }
  const call = async (...args: readonly never[]): Promise<unknown> => {
    const { rows, params, write } = await read!(...args);
    const results = await client.handle(rows as readonly never[], { params } as never);
    const failed = results.find((one) => one instanceof Error);
    if (failed) throw failed;
    return write(results as never);
  };
  return Object.assign(call, { task, dispose: async () => await client.dispose() }) as never;
}

function isClient(model: unknown): model is PipelineClient {
  return typeof model === 'object' && model !== null && 'handle' in model && 'describe' in model;
}

async function opened(
  model: string | URL,
  handler: string | undefined,
  options: PipelineOptions,
): Promise<PipelineClient> {
  const { device, dtype, revision, progress_callback: onMessage, ...rest } = options;
  if (!Object.hasOwn(BACKENDS, device ?? 'auto'))
    throw new TabServeError('invalid-input', `device: expected ${Object.keys(BACKENDS).join(', ')}, got ${device}.`);
  if (isPlainObject(dtype))
    throw new TabServeError(
      'invalid-input',
      'dtype: expected one precision. For one of each file, set config: { engine: { dtype } }.',
    );
  const backends = BACKENDS[device ?? 'auto'];
  return await load(addressOf(model, revision), {
    ...rest,
    ...(handler !== undefined && { handler }),
    ...(backends && { backends }),
    ...(dtype && { config: { ...rest.config, engine: { ...rest.config?.engine, dtype } } }),
    ...(onMessage && { onProgress: (progress: Progress) => onMessage(messageOf(progress)) }),
  } as never);
}

function messageOf({ file, loaded, total }: Progress): PipelineProgress {
  return { status: 'progress', file, loaded, total, progress: total ? (loaded / total) * 100 : undefined };
}
