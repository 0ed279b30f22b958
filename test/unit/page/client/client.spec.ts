import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { connect } from '../../../../src/page/client/connect.ts';
import { load } from '../../../../src/page/client/connect.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { ConnectMessage } from '../../../../src/contract/wire.ts';
import { settle } from '../../support/fake-clock.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

const factory = (): Worker => new EchoWorker() as unknown as Worker;
const MODEL = 'http://127.0.0.1/model.onnx';
const noStore = { get: async () => undefined, set: async () => {}, clear: async () => {} };

const unprintable = {
  toString: () => {
    throw new Error('toString');
  },
  [Symbol.toPrimitive]: () => {
    throw new Error('primitive');
  },
};

/** Values that few expect; fast-check gets their names. */
const STRANGE: Readonly<Record<string, unknown>> = {
  unprintable,
  symbol: Symbol('x'),
  function: () => {},
  bigint: 10n,
  bare: Object.create(null),
  error: new Error('x'),
};

type Boxed = { readonly strange: string } | { readonly value: unknown };

/** Whatever a caller without types may pass. */
const anything: fc.Arbitrary<Boxed> = fc.oneof(
  fc.record({
    value: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
    }),
  }),
  fc.record({ strange: fc.constantFrom(...Object.keys(STRANGE)) }),
);

function unbox(boxed: Boxed): never {
  return ('strange' in boxed ? STRANGE[boxed.strange] : boxed.value) as never;
}

/** Options of which each may be anything, or anything in their place. */
function options(
  ...keys: readonly string[]
): fc.Arbitrary<Boxed | { readonly options: Readonly<Record<string, Boxed | undefined>> }> {
  const some = fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] });
  return fc.oneof(anything, fc.record({ options: some }));
}

function unboxOptions(given: Boxed | { readonly options: Readonly<Record<string, Boxed | undefined>> }): never {
  if (!('options' in given)) return unbox(given);
  return Object.fromEntries(Object.entries(given.options).map(([key, value]) => [key, value && unbox(value)])) as never;
}

/** What a call does: nothing but answers and our errors. */
async function outcomeOf(call: () => unknown): Promise<'answer' | string> {
  try {
    await call();
    return 'answer';
  } catch (error) {
    if (!(error instanceof TabServeError)) throw error;
    return error.code;
  }
}

test('an event that there is not, a listener that is none, and a list as options are refused', async () => {
  const client = connect(factory, { model: MODEL });
  for (const [event, listener, message] of [
    ['nope', () => {}, /^event: expected one of backendchange, .*, got "nope"\.$/],
    ['constructor', () => {}, /^event: expected one of/],
    ['warn', 5, /^listener: expected a function, got 5\.$/],
  ] as const)
    expect(() => client.on(event as never, listener as never)).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringMatching(message) }),
    );
  await expect(client.initialize([] as never)).rejects.toMatchObject({ code: 'invalid-input' });
  expect(() => connect(factory, [] as never)).toThrow(expect.objectContaining({ name: 'TabServeError' }));
  await client.dispose();
});

test('whatever is passed to predict, handle and explain: an answer, or a TabServeError', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  const codes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('predict', 'handle', 'explain' as const),
      anything,
      options('signal', 'timeout', 'priority', 'params', 'transfer'),
      async (method, input, given) => {
        const call = method === 'handle' ? [unbox(input)] : unbox(input);
        codes.add(await outcomeOf(() => client[method](call as never, unboxOptions(given))));
        codes.add(await outcomeOf(() => client.handle(unbox(input), unboxOptions(given))));
      },
    ),
    { numRuns: 500 },
  );
  expect([...codes]).toEqual(expect.arrayContaining(['answer', 'invalid-input', 'not-cloneable']));
});

test('the wrong options by name', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  for (const [given, name] of [
    [{ timeout: 10n }, 'timeout'],
    [{ topK: 3 }, 'topK'],
    [{ priority: Object.create(null) as unknown }, 'priority'],
    [{ signal: {} }, 'signal'],
    [{ params: 5 }, 'params'],
    [{ transfer: 'yes' }, 'transfer'],
    [null, 'options'],
  ] as const) {
    await expect(client.predict(1 as never, given as never)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(name),
    });
  }
});

/** Runs as in plain Node: ONNX Runtime's Node build, which other specs load in this process, defines a Worker. */
async function withoutWorker<T>(run: () => Promise<T>): Promise<T> {
  const { Worker } = globalThis;
  Object.assign(globalThis, { Worker: undefined });
  try {
    return await run();
  } finally {
    Object.assign(globalThis, { Worker });
  }
}

test('whatever is passed to initialize and load', async () => {
  await fc.assert(
    fc.asyncProperty(anything, options('signal', 'onProgress'), async (model, given) => {
      const client = connect(factory, { model: unbox(model), verdicts: noStore });
      await outcomeOf(() => client.initialize(unboxOptions(given)));
      await client.dispose();
      // No worker under Node: refused, and never a TypeError.
      expect(await outcomeOf(() => withoutWorker(() => load(unbox(model), unboxOptions(given))))).not.toBe('answer');
    }),
    { numRuns: 200 },
  );
});

test('whatever is passed to connect: a client for an object without unknown options, else an error', async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, fc.constant({ value: factory })), anything, async (first, second) => {
      const outcome = await outcomeOf(() => connect(unbox(first), unbox(second)).dispose());
      // A factory comes before the options.
      const given: unknown = typeof unbox(first) === 'function' ? unbox(second) : unbox(first);
      const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
      const fits = isObject && Object.values(given).every((value) => value === undefined);
      expect(outcome).toBe(fits ? 'answer' : 'model-config');
      seen.add(`${typeof unbox(first) === 'function' ? 'factory' : 'options'}: ${outcome}`);
    }),
    { numRuns: 500 },
  );
  expect([...seen].sort()).toEqual([
    'factory: answer',
    'factory: model-config',
    'options: answer',
    'options: model-config',
  ]);
});

test('whatever an option of connect is: an answer, or a TabServeError', async () => {
  const names = [
    'model',
    'handler',
    'backends',
    'powerPreference',
    'prefer',
    'verify',
    'config',
    'assets',
    'remote',
    'share',
    'cache',
    'request',
    'integrity',
    'allowedOrigins',
    'batchSize',
  ];
  for (const name of names)
    for (const [strange, value] of Object.entries(STRANGE)) {
      const used = async (): Promise<void> => {
        await using client = connect(factory, { model: MODEL, verdicts: noStore, [name]: value } as never);
        await client.initialize();
        await client.predict(1 as never);
      };
      await expect(outcomeOf(used), `${name}: ${strange}`).resolves.toEqual(expect.any(String));
    }
});

test('a GPU that no browser knows is refused, with those that there are', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore, powerPreference: 'low' as never });
  await expect(client.initialize()).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/^powerPreference: expected one of "high-performance", "low-power"/),
  });
});

test('params that cannot be cloned cannot be sent', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  await expect(client.predict(1 as never, { params: { call: () => {} } as never })).rejects.toMatchObject({
    code: 'not-cloneable',
  });
});

test('a factory that returns no worker, and a worker with invalid answers', async () => {
  for (const made of [null, {}, undefined, 5]) {
    const client = connect(() => made as never, { model: MODEL, verdicts: noStore });
    await expect(client.initialize()).rejects.toMatchObject({ code: 'worker-failed' });
    await client.dispose();
  }
  for (const answer of [undefined, null, {}, { ok: false }, { ok: false, error: { message: 'm', cause: 'text' } }, 7]) {
    class Foreign extends EchoWorker {
      protected override answer(): unknown {
        return answer;
      }
    }
    const client = connect(() => new Foreign() as unknown as Worker, { model: MODEL, verdicts: noStore });
    expect(await outcomeOf(() => client.initialize())).not.toBe('answer');
    await client.dispose();
  }
});

test('handle with a sparse list, and a client that is disposed of by its own event listener', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  expect(await client.handle(Object.assign(Array.from({ length: 3 }), { 0: 1 }) as never)).toHaveLength(3);
  const other = connect(factory, { model: MODEL, verdicts: noStore });
  other.on('backendchange', () => void other.dispose());
  await expect(other.initialize()).rejects.toMatchObject({ code: 'disposed' });
});

test('a listener that replaces itself hears each event once, and one that another has removed hears none', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  const heard: string[] = [];
  const listen = (): void => {
    const remove = client.on('response', () => {
      heard.push('replaced');
      remove();
      removeOther();
      if (heard.length < 10) listen();
    });
  };
  listen();
  const removeOther = client.on('response', () => heard.push('other'));
  await client.predict(1 as never);
  expect(heard).toEqual(['replaced']);
  await client.predict(1 as never);
  expect(heard).toEqual(['replaced', 'replaced']);
});

test('load on a server says what to do', async () => {
  await withoutWorker(async () => {
    await expect(load('/models/digits/')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('in the browser'),
    });
    // What a component of a server-rendered app may do anywhere.
    const client = connect({ model: '/models/digits/', handler: 'image_classifier' });
    await client.dispose();
  });
});

test('load and connect in a service worker say where to load the model instead', async () => {
  // What only the scope of a service worker has.
  const scope = { ServiceWorkerGlobalScope: Object, registration: {} };
  Object.assign(globalThis, scope);
  try {
    const error = {
      code: 'unsupported',
      message:
        'A service worker can start no Web Worker. Load the model in a page; in an extension, in an offscreen document: docs/hosting.md#service-workers.',
    };
    await withoutWorker(async () => {
      await expect(load('/models/digits/')).rejects.toMatchObject(error);
      await using own = connect(() => new Worker('own.js'), { model: '/models/digits/' });
      await expect(own.initialize()).rejects.toMatchObject(error);
    });
  } finally {
    for (const name of Object.keys(scope)) Reflect.deleteProperty(globalThis, name);
  }
});

test('a row’s error rejects, whatever form the worker gave it', async () => {
  const errors = [
    { name: 'Error', message: 'plain' },
    { name: 'TabServeError', message: 'ours', code: 'invalid-input' },
    { name: 'PredictionError', message: 'other', code: 'no-such-code' },
    'no error at all',
  ];
  let next = 0;
  class Failing extends EchoWorker {
    protected override answer(method: (...args: never[]) => unknown, args: never[]): unknown {
      const [request] = args as readonly { readonly rows?: unknown }[];
      if (!request?.rows) return super.answer(method, args);
      return Promise.resolve({
        ok: true,
        value: { rows: [{ ok: false, error: errors[next++] }], timings: {}, handlerTime: 0, memory: 0 },
      });
    }
  }
  await using client = connect(() => new Failing() as unknown as Worker, { model: MODEL, verdicts: noStore });
  await client.initialize();
  const codes: string[] = [];
  for (const _ of errors) codes.push(await outcomeOf(() => client.predict(1 as never)));
  expect(codes).toEqual(['handler-failed', 'invalid-input', 'handler-failed', 'worker-failed']);
});

test('an option that does not exist is refused, whoever misspelt it', async () => {
  const misspelt = { model: MODEL, allowedOrigin: ['https://a.example'] };
  expect(() => connect(factory, misspelt as never)).toThrow(
    /^allowedOrigin is not an option; there are model, .*allowedOrigins/,
  );
  expect(() => connect(factory, { model: MODEL, handler: null } as never)).toThrow(
    'handler: expected the name of a built-in handler, got null.',
  );
  await expect(load(MODEL, { onprogress: () => {} } as never)).rejects.toMatchObject({ code: 'model-config' });
  const client = connect(factory, { model: MODEL, allowedOrigin: undefined } as never);
  await expect(client.initialize({ onprogress: () => {} } as never)).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'onprogress is not an option of initialize (signal, onProgress).',
  });
});

test('an option with a wrong value is refused by its name', async () => {
  const wrong = {
    backends: ['wasm', []],
    prefer: ['fast'],
    verify: [true],
    config: [5, []],
    cache: ['disk'],
    request: ['token', { credentials: 'all' }],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      await using client = connect(factory, { model: MODEL, verdicts: noStore, [name]: value } as never);
      await expect(client.initialize(), `${name}: ${JSON.stringify(value)}`).rejects.toMatchObject({
        code: 'model-config',
        message: expect.stringMatching(new RegExp(`^${name}\\b.*: expected `)),
      });
    }
});

test('a listener that throws is an uncaught error of the app, and the request is answered', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  client.on('response', () => {
    throw new Error('a mistake of the app');
  });
  const others = process.listeners('uncaughtException');
  for (const other of others) process.off('uncaughtException', other);
  const thrown = new Promise((resolve) => process.once('uncaughtException', resolve));
  try {
    await client.predict(1 as never);
    expect(await thrown).toMatchObject({ message: 'a mistake of the app' });
  } finally {
    for (const other of others) process.on('uncaughtException', other);
  }
});

test('an abort whose reason cannot be looked at settles the request too', async () => {
  const client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  for (const reason of Object.values(STRANGE)) {
    const aborter = new AbortController();
    const answer = client.predict('x' as never, { signal: aborter.signal });
    aborter.abort(reason);
    const late = new Promise((resolve) => setTimeout(() => resolve('it never settles'), 500));
    await expect(Promise.race([answer, late])).rejects.toMatchObject({ name: 'TabServeError', code: 'aborted' });
  }
  await client.dispose();
});

/** A worker that never answers the calls that hang. */
class HangingWorker extends EchoWorker {
  isLive = true;
  events: MessagePort | undefined;

  constructor(readonly hangs: string) {
    super();
  }

  override postMessage(message: ConnectMessage): void {
    this.events = message.events;
    super.postMessage(message);
  }

  protected override answer(method: (...args: never[]) => unknown, args: never[]): unknown {
    return method.name === this.hangs ? new Promise(() => {}) : super.answer(method, args);
  }

  override terminate(): void {
    this.isLive = false;
    super.terminate();
  }
}

test('initialize that is aborted at any moment after its worker has started ends that worker', async () => {
  for (const hangs of ['probe', 'load', 'open'])
    for (let turns = 0; turns < 40; turns++) {
      const workers: HangingWorker[] = [];
      const aborter = new AbortController();
      const abortLater = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        aborter.abort();
      };
      const make = (): Worker => {
        const worker = new HangingWorker(hangs);
        worker.addEventListener('message', () => void abortLater(), { once: true });
        workers.push(worker);
        return worker as unknown as Worker;
      };
      await using client = connect(make, { model: MODEL, verdicts: noStore });
      expect(await outcomeOf(() => client.initialize({ signal: aborter.signal }))).toBe('aborted');
      await settle();
      expect([hangs, turns, workers.map(({ isLive }) => isLive)]).toEqual([hangs, turns, [false]]);
    }
});

test('a caller of initialize that has aborted gets no more progress; the other callers do', async () => {
  const worker = new HangingWorker('load');
  await using client = connect(() => worker as unknown as Worker, { model: MODEL, verdicts: noStore });
  const aborter = new AbortController();
  const heard: string[] = [];
  const first = outcomeOf(() => client.initialize({ onProgress: () => heard.push('first') }));
  const second = client.initialize({ signal: aborter.signal, onProgress: () => heard.push('second') });
  while (!worker.events) await settle();
  const report = async (loaded: number): Promise<void> => {
    const count = heard.length;
    worker.events!.postMessage({ type: 'progress', progress: { file: 'model.onnx', loaded, total: 9 } });
    while (heard.length === count) await settle();
  };
  await report(1);
  expect(heard).toEqual(['first', 'second']);
  aborter.abort();
  await expect(second).rejects.toMatchObject({ code: 'aborted' });
  await report(2);
  expect(heard).toEqual(['first', 'second', 'first']);
  await client.dispose();
  expect(await first).toBe('disposed');
});

test('a request whose signal aborts while its input is read sets no timer for its timeout', async () => {
  await using client = connect(factory, { model: MODEL, verdicts: noStore });
  await client.initialize();
  const aborter = new AbortController();
  const input = {
    get data() {
      aborter.abort();
      return 1;
    },
  };
  const timers = (): number => process.getActiveResourcesInfo().filter((what) => what === 'Timeout').length;
  const before = timers();
  const answer = outcomeOf(() => client.predict(input as never, { signal: aborter.signal, timeout: 1_000_000 }));
  expect(timers()).toBe(before);
  expect(await answer).toBe('aborted');
});
