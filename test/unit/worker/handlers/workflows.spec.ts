// Workflows: page and worker run whole under Node, with nodes whose models are functions.
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import type { Archive } from '../../../../src/contract/archive.ts';
import { errorFromData, errorToData } from '../../../../src/contract/error-data.ts';
import { atNode, PredictionError, TabServeError } from '../../../../src/contract/errors.ts';
import type { Context, NodeHandler } from '../../../../src/contract/handler.ts';
import type { Tensor, Tensors } from '../../../../src/contract/tensors.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { unwrap, type Row } from '../../../../src/worker/handlers/row.ts';
import { WorkflowHandler } from '../../../../src/worker/handlers/workflow-handler.ts';
import { openNode } from '../../../../src/worker/host/nodes.ts';
import { Recorder } from '../../../../src/worker/host/recorder.ts';
import { createTestHandler } from '../../../../src/worker/host/testing.ts';
import { HostWorker } from '../../support/host-worker.ts';
import { stubSession } from '../../support/stub-session.ts';

const part = (name: string, more: Partial<Archive> = {}): Archive => ({
  url: `https://example.org/w/${name}/`,
  manifest: { model: { modelName: name, handler: 'base_handler' } },
  config: {},
  models: { onnx: `${name}.onnx` },
  files: { [`${name}.onnx`]: new Blob([name]) },
  golden: [],
  integrity: {},
  root: `${name}/`,
  ...more,
});
const whole = (nodes: Record<string, Archive>): Archive => ({
  ...part('w', { models: {}, files: {}, manifest: { model: { modelName: 'w', handler: 'workflow' } } }),
  nodes,
});

/** A number in, a number out. */
class Numbers extends BaseHandler<number> {
  override preprocess(rows: readonly Row<number>[], context: Context): Tensors {
    const values = rows.map((row, index) => {
      const value = unwrap(row);
      if (value === 13) context.fail(index, new TabServeError('invalid-input', 'not 13'));
      if (value === 666) throw new RangeError('666 breaks the batch');
      return value;
    });
    return { x: { dtype: 'float32', dims: [values.length, 1], data: Float32Array.from(values) } };
  }
  override postprocess(outputs: Tensors, { metrics }: Context): never[] {
    metrics.addCounter('Answers');
    return [...(outputs['y'] as Tensor<'float32'>).data] as never[];
  }
}

/** (2 x + 1)², by two nodes. A row that `double` fails gets no further. */
class Squares extends WorkflowHandler<number, number> {
  double!: NodeHandler<Numbers>;
  square!: NodeHandler<Numbers>;

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.double = await context.openHandler('double', Numbers);
    this.square = await context.openHandler('square', Numbers);
  }

  override async inference(rows: readonly number[], context: Context): Promise<(number | PredictionError)[]> {
    const doubled = await this.double.handle(rows, context);
    const good = doubled.filter((row): row is never => !(row instanceof PredictionError));
    const squares = await this.square.handle(good, context);
    return doubled.map((row) =>
      row instanceof PredictionError ? row : (squares[good.indexOf(row as never)] as number | PredictionError),
    );
  }
}

const apply =
  (name: string) =>
  (x: number): number =>
    name.startsWith('double') ? 2 * x + 1 : x * x;

interface Settings {
  readonly archive?: Archive;
  readonly handler?: new () => Squares;
  readonly opened?: string[];
  readonly broken?: string;
}

async function clientOf({ archive, handler = Squares, opened = [], broken }: Settings = {}): Promise<Client> {
  const inputs = [{ name: 'x', dtype: 'float32', dims: ['rows', 1] }] as const;
  const worker = (): Worker =>
    new HostWorker(handler, {
      archive: archive ?? whole({ double: part('double'), square: part('square') }),
      open: async (_, path) => {
        opened.push(path);
        if (path === broken) throw new TabServeError('backend-failed', `no operator for ${path}`);
        return stubSession(inputs, [{ ...inputs[0], name: 'y' }], ({ x }) => ({
          y: { ...x!, data: (x!.data as Float32Array).map(apply(path)) },
        }));
      },
    }) as unknown as Worker;
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  const client = connect(worker, { model: 'https://example.org/w/', verdicts, backends: ['wasm'] });
  await client.initialize();
  return client;
}

const failure = (promise: Promise<unknown>): Promise<TabServeError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error as TabServeError,
  );

test('two handlers, each with a model of its own, answer as one', async () => {
  const opened: string[] = [];
  const client = await clientOf({ opened });
  expect(await client.predict(3 as never)).toBe(49);
  expect(await client.handle([0, 1, 2] as never[])).toEqual([1, 9, 25]);
  expect(opened).toEqual(['double.onnx', 'square.onnx']);
  await client.dispose();
});

test("times, metrics and the description are each node's", async () => {
  const client = await clientOf();
  const responses: unknown[] = [];
  client.on('response', (response) => responses.push(response));
  await client.handle([1, 2] as never[]);
  const time = expect.any(Number);
  const stages = { preprocess: time, inference: time, postprocess: time };
  expect(responses).toEqual([expect.objectContaining({ timings: stages, nodes: { double: stages, square: stages } })]);
  const { counters, histograms } = client.metrics.snapshot();
  expect(histograms['ts_handler_inference']!.map(({ labels }) => labels)).toEqual([
    {},
    { node: 'double' },
    { node: 'square' },
  ]);
  expect(counters['Answers']!.map(({ labels, value }) => [labels, value])).toEqual([
    [{ node: 'double' }, 1],
    [{ node: 'square' }, 1],
  ]);
  const { nodes, inputs } = await client.describe();
  expect(inputs).toBeUndefined();
  expect(nodes).toMatchObject({
    double: { handler: 'base_handler', inputs: [{ name: 'x' }], rowsPerRun: 'any' },
    square: {},
  });
  expect(client.metrics.prometheus()).toContain('node="double"');
  await client.dispose();
});

test("a node's row that fails, by context.fail or by throwing, fails its row of the workflow alone", async () => {
  const client = await clientOf();
  const answers = await client.handle([1, 13, 666, 2] as never[]);
  expect(answers).toEqual([9, expect.any(PredictionError), expect.any(PredictionError), 25]);
  expect(answers[1]).toMatchObject({
    code: 'invalid-input',
    stage: 'preprocess',
    node: 'double',
    message: 'Node "double": not 13',
  });
  expect(answers[2]).toMatchObject({
    code: 'handler-failed',
    stage: 'preprocess',
    node: 'double',
    cause: { name: 'RangeError' },
  });
  await client.dispose();
});

test('an empty list of rows runs nothing', async () => {
  const client = await clientOf();
  expect(await client.handle([13] as never[])).toEqual([expect.objectContaining({ node: 'double' })]);
  await client.dispose();
});

test('a node that cannot be opened, or answers too few rows, is named', async () => {
  const cannot = await failure(clientOf({ broken: 'square.onnx' }));
  expect(cannot.code).toBe('no-backend');
  expect(cannot.message).toContain('Node "square": no operator for square.onnx');
  expect(cannot.cause).toMatchObject({ node: 'square', stage: 'initialize', code: 'backend-failed' });

  class Fails extends Numbers {
    override async initialize(): Promise<void> {
      throw new TypeError('no tables');
    }
  }
  class OpensFails extends Squares {
    override async initialize(context: Context): Promise<void> {
      await context.openHandler('double', Fails);
    }
  }
  expect(await failure(clientOf({ handler: OpensFails }))).toMatchObject({
    code: 'handler-failed',
    node: 'double',
    stage: 'initialize',
    message: 'Node "double": no tables',
  });

  class Few extends Numbers {
    override postprocess(): never[] {
      return [];
    }
  }
  class Short extends Squares {
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      this.square = (await context.openHandler('few', Few)) as never;
    }
  }
  const client = await clientOf({
    handler: Short,
    archive: whole({ double: part('double'), square: part('square'), few: part('few') }),
  });
  expect(await failure(client.handle([1, 2] as never[]))).toMatchObject({
    code: 'batch-contract',
    node: 'few',
    message: expect.stringContaining('2 rows'),
  });
  await client.dispose();
});

test('a node of a class that no test compares: the key of the workflow that names its handler', async () => {
  const likely = { architecture: 'FooForXVector', likelyHandler: 'speaker_embedder' };
  const unknown = new TabServeError('unknown-handler', 'There is no built-in handler "FooForXVector".');
  const open = async (more: object): Promise<TabServeError> => {
    const workflow = { archive: whole({ double: part('double', more) }), metrics: new Recorder() };
    return await failure(openNode(workflow, 'double', false, () => Promise.reject(unknown)));
  };
  expect(await open(likely)).toMatchObject({
    code: 'unknown-handler',
    node: 'double',
    message: expect.stringMatching(/class FooForXVector .* Set nodes\.double\.handler to 'speaker_embedder'/),
  });
  expect((await open({})).message).toContain(unknown.message);
});

test('a node that is not named, or is opened too late; a node that nobody opens', async () => {
  class Unknown extends Squares {
    override async initialize(context: Context): Promise<void> {
      await context.openHandler('doubel', Numbers);
    }
  }
  expect(await failure(clientOf({ handler: Unknown }))).toMatchObject({
    code: 'model-config',
    message:
      'The handler opens the node "doubel", which `nodes` in model-config.yaml does not name; it names double, square.',
  });
  expect(await failure(clientOf({ archive: part('bare') }))).toMatchObject({
    code: 'model-config',
    message:
      'The handler opens the node "double", which `nodes` in model-config.yaml does not name; there are no nodes: a workflow needs an archive whose config has them, or nodes in the option config.',
  });
  const without = connect(() => new EventTarget() as Worker, {} as never);
  expect(await failure(without.initialize())).toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(
      /^model: expected a URL or files, got undefined\..*the archive that names its nodes/,
    ),
  });
  class Late extends Squares {
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      this.square = this.double;
    }
    override async inference(_: readonly number[], context: Context): Promise<number[]> {
      await context.openHandler('late', Numbers);
      return [];
    }
  }
  const client = await clientOf({
    handler: Late,
    archive: whole({ double: part('double'), square: part('square'), late: part('late') }),
  });
  expect(await failure(client.predict(1 as never))).toMatchObject({
    code: 'handler-failed',
    message: expect.stringContaining('Call context.openHandler in initialize'),
  });
  expect(client.diagnose()).toContain('nodes names late, which the handler has not opened');
  await client.dispose();
});

test("a node by the built-in handler that its archive names, and a workflow's model that is not there", async () => {
  class BuiltIn extends Squares {
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      const node = await context.openHandler('double');
      expect(await context.openHandler('double')).toBe(node);
      await expect(context.open()).rejects.toMatchObject({
        code: 'model-not-found',
        message: expect.stringContaining('no model of its own'),
      });
      await node.handle([{ data: Float32Array.of(1), dims: [1] } as never], context);
    }
  }
  await (await clientOf({ handler: BuiltIn })).dispose();
});

test('a workflow in a workflow: times and errors have the path', async () => {
  class Outer extends WorkflowHandler<number, number> {
    inner!: NodeHandler<Squares>;
    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      this.inner = await context.openHandler('inner', Squares);
    }
    override async inference(rows: readonly number[], context: Context): Promise<(number | PredictionError)[]> {
      return [...(await this.inner.handle(rows, context))];
    }
  }
  const shared = part('double');
  const archive = whole({ inner: { ...whole({ double: shared, square: part('square') }), root: 'inner/' } });
  const client = await clientOf({ archive, handler: Outer as never });
  const nodes: string[] = [];
  client.on('response', (response) => nodes.push(...Object.keys(response.nodes!)));
  const [good, bad] = await client.handle([1, 13] as never[]);
  expect(good).toBe(9);
  expect(bad).toMatchObject({ node: 'inner/double', message: 'Node "inner/double": not 13' });
  expect(nodes.sort()).toEqual(['inner', 'inner/double', 'inner/square']);
  await client.dispose();
});

test('an error keeps its node on its way through the worker', () => {
  const error = atNode(
    new TabServeError('invalid-input', 'no', { stage: 'inference', cause: new TypeError('x') }),
    'b',
  );
  expect(errorFromData(errorToData(error))).toMatchObject({
    node: 'b',
    stage: 'inference',
    code: 'invalid-input',
    message: 'Node "b": no',
  });
  expect(atNode(error, 'a')).toMatchObject({ node: 'a/b', message: 'Node "a/b": no', cause: { message: 'x' } });
  expect(PredictionError.from(error)).toMatchObject({ node: 'b', name: 'PredictionError' });
});

test('a workflow in a unit test: stand-ins for models, and answers instead of handlers', async () => {
  const outputs = (name: string) => ({
    outputs: ({ x }: Tensors) => ({ y: { ...x!, data: (x!.data as Float32Array).map(apply(name)) } as Tensor }),
    inputs: [{ name: 'x', dtype: 'float32', dims: ['rows', 1] }] as const,
  });
  const real = await createTestHandler(Squares, { nodes: { double: outputs('double'), square: outputs('square') } });
  expect(await real.predict(3)).toBe(49);
  expect(real.observations.map(({ labels }) => labels)).toEqual([{ node: 'double' }, { node: 'square' }]);
  const answers = await createTestHandler(Squares, {
    nodes: { double: { answers: (rows) => rows.map((row) => row + 100) }, square: outputs('square') },
  });
  expect(await answers.handle([1, 2])).toEqual([101 ** 2, 102 ** 2]);
  const few = await createTestHandler(Squares, {
    nodes: { double: { answers: () => [] }, square: { answers: () => [] } },
  });
  expect(await failure(few.predict(1))).toMatchObject({ code: 'batch-contract', node: 'double' });
  expect(await failure(createTestHandler(Squares, { nodes: {} }))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('no node "double"'),
  });
});
