import { TabServeError } from '../../../src/contract/errors.ts';
import type { Tensors } from '../../../src/contract/tensors.ts';
import type {
  ServedClient,
  ServedDescription,
  ServedRequestOptions,
  ServedSequence,
} from '../../../src/server/served-client.ts';

const DESCRIPTION = {
  modelName: 'digits',
  modelVersion: '1.0',
  handler: 'image_classifier',
  takes: 'image',
  resultForms: ['typed', 'torchserve'],
  inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 2] }],
  outputs: [{ name: 'logits', dtype: 'float32', dims: [null, 2] }],
  rowsPerRun: 'any',
  labels: undefined,
  customizedMetadata: { about: 'a fake' },
  config: {
    minWorkers: 1,
    maxWorkers: 1,
    batchSize: 1,
    maxBatchDelay: 0,
    jobQueueSize: 100,
    responseTimeout: 120,
    startupTimeout: 120,
  },
  backend: { engine: 'onnx', name: 'wasm', threads: 1, proof: 'golden', skipped: [] },
  workers: 1,
  jobQueueStatus: { remainingCapacity: 100, pendingRequests: 0 },
} as unknown as ServedDescription;

/** A request that a fake client was given. */
export interface Asked {
  readonly kind: string;
  readonly input: unknown;
  readonly options: ServedRequestOptions;
}

/** A client whose answers the test makes. By default it answers with its version. */
export class FakeClient implements ServedClient {
  readonly asked: Asked[] = [];
  readonly metrics = { prometheus: () => this.prometheus };
  disposed = false;
  sequences = 0;
  /** Of those, which have not ended. */
  openSequences = 0;
  prometheus = '';
  parts: readonly unknown[] = [];
  readonly description: ServedDescription;
  #listeners: (readonly [event: 'fail' | 'backendchange', listener: () => void])[] = [];

  constructor(
    description: Partial<ServedDescription> = {},
    readonly answer: (asked: Asked) => unknown = () => ({ version: this.description.modelVersion }),
  ) {
    this.description = { ...DESCRIPTION, ...description };
  }

  async #ask(kind: string, input: unknown, options: ServedRequestOptions = {}): Promise<unknown> {
    const asked = { kind, input, options };
    this.asked.push(asked);
    const gone = new Promise<never>((_, reject) => {
      const abort = (): void => reject(new TabServeError('aborted', 'aborted'));
      if (options.signal?.aborted) abort();
      options.signal?.addEventListener('abort', abort);
    });
    const answer = await Promise.race([Promise.resolve().then(() => this.answer(asked)), gone]);
    if (this.disposed) throw new TabServeError('disposed', 'The client has been disposed of.');
    return answer;
  }

  predict(input: unknown, options?: ServedRequestOptions): Promise<unknown> {
    return this.#ask('predict', input, options);
  }

  async handle(inputs: readonly unknown[], options?: ServedRequestOptions): Promise<unknown[]> {
    return (await this.#ask('handle', inputs, options)) as unknown[];
  }

  async *stream(input: unknown, options?: ServedRequestOptions): AsyncIterable<unknown> {
    for (const part of this.parts) yield part;
    yield await this.#ask('stream', input, options);
  }

  explain(input: unknown, options?: ServedRequestOptions): Promise<unknown> {
    return this.#ask('explain', input, options);
  }

  /** Its requests are asked as `sequence N`. */
  openSequence(): ServedSequence {
    const over = new AbortController();
    const name = `sequence ${++this.sequences}`;
    this.openSequences += 1;
    over.signal.addEventListener('abort', () => (this.openSequences -= 1));
    return {
      ended: over.signal,
      predict: (input, options) => this.#ask(name, input, options),
      end: async () => over.abort(new TabServeError('disposed', 'The sequence has ended.')),
    };
  }

  async infer(inputs: Tensors, options?: ServedRequestOptions): Promise<Tensors> {
    return (await this.#ask('infer', inputs, options)) as Tensors;
  }

  async describe(): Promise<ServedDescription> {
    return this.description;
  }

  on(event: 'fail' | 'backendchange', listener: () => void): () => void {
    const own = [event, listener] as const;
    this.#listeners.push(own);
    return () => void (this.#listeners = this.#listeners.filter((one) => one !== own));
  }

  /** Something happens to the client: no worker can be opened, or the app has initialized it again. */
  emit(event: 'fail' | 'backendchange'): void {
    for (const [of, listener] of this.#listeners) if (of === event) listener();
  }

  get listeners(): number {
    return this.#listeners.length;
  }

  async dispose(): Promise<void> {
    this.disposed = true;
  }
}

/** A promise that the test settles. */
export function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let settle!: { resolve: (value: T) => void; reject: (error: unknown) => void };
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return { promise, ...settle };
}
