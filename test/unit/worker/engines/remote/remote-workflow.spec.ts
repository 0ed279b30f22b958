// A workflow whose nodes are models of a server: page and worker run whole under Node, and the server speaks the
// protocol over HTTP.
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { connect } from '../../../../../src/page/client/connect.ts';
import type { ClientOptions } from '../../../../../src/page/options/client-options.ts';
import type { Archive, ModelConfig } from '../../../../../src/contract/archive.ts';
import { PredictionError, type TabServeError } from '../../../../../src/contract/errors.ts';
import type { Context, NodeHandler } from '../../../../../src/contract/handler.ts';
import type { RemoteModel } from '../../../../../src/contract/remote.ts';
import type { Tensors } from '../../../../../src/contract/tensors.ts';
import { start } from '../../../../../src/worker/engines/remote/engine.ts';
import { BaseHandler } from '../../../../../src/worker/handlers/base-handler.ts';
import { WorkflowHandler } from '../../../../../src/worker/handlers/workflow-handler.ts';
import { createProtocolServer, type ServedModel } from '../../../../remote/protocol-server.mjs';
import { HostWorker } from '../../../support/host-worker.ts';

const model = (apply: (x: number) => number): ServedModel => ({
  inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 1] }],
  outputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 1] }],
  run: ([input]) => [{ ...input!, values: (input!.values as number[]).map(apply) }],
});
const server = createProtocolServer({ double: model((x) => 2 * x), square: model((x) => x * x) });
let url: string;
test.beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
test.afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** (2 x)², by two models of a server. */
class Squares extends WorkflowHandler<Tensors['x'], readonly number[]> {
  #double!: NodeHandler<BaseHandler>;
  #square!: NodeHandler<BaseHandler>;

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#double = await context.openHandler('double', BaseHandler);
    this.#square = await context.openHandler('square', BaseHandler);
  }

  override async inference(rows: readonly Tensors['x'][], context: Context): Promise<(number[] | PredictionError)[]> {
    const next = async (node: NodeHandler<BaseHandler>, inputs: readonly unknown[]) =>
      await Promise.all(
        (await node.handle(inputs as never, context)).map((row) =>
          row instanceof PredictionError ? Promise.reject(row) : (row as Tensors)['x'],
        ),
      );
    const squares = await next(this.#square, await next(this.#double, rows));
    return squares.map((square) => [...(square!.data as Float32Array)]);
  }
}

/** A node's archive: no model file, as the server has it. */
const node = (modelName: string, remote?: RemoteModel): Archive => ({
  url: `https://example.org/w/${modelName}/`,
  manifest: { model: { modelName, handler: 'base_handler' } },
  config: { ...(remote && { engine: { remote } }) },
  models: {},
  files: {},
  golden: [],
  integrity: {},
});

async function open(nodes: Record<string, Archive>, options: Partial<ClientOptions> = {}, config: ModelConfig = {}) {
  const archive: Archive = { ...node('w'), nodes, config };
  const engines = { 'remote/http': start };
  const worker = (): Worker => new HostWorker(Squares, { archive, engines }) as unknown as Worker;
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  const client = connect(worker, {
    model: 'https://example.org/w/',
    verdicts,
    backends: ['remote'],
    remote: { url },
    ...options,
  });
  try {
    await client.initialize();
    return client;
  } catch (error) {
    await client.dispose();
    return error as TabServeError;
  }
}

test('each node is a model of the server, by the name of its archive or of its config', async () => {
  const client = await open({ double: node('double'), square: node('other', { model: 'square' }) });
  if (client instanceof Error) throw client;
  expect(client.backend).toMatchObject({ engine: 'remote', name: 'remote' });
  server.seen.length = 0;
  const row = (value: number) => ({ dtype: 'float32', dims: [1], data: Float32Array.of(value) }) as never;
  expect(await client.handle([row(1), row(3)])).toEqual([[4], [36]]);
  expect(server.seen.filter(({ method }) => method === 'POST').map(({ url }) => url)).toEqual([
    '/v2/models/double/infer',
    '/v2/models/square/infer',
  ]);
  await client.dispose();
});

test('a server without the model of a node is skipped, with the node in the reason; a model for the workflow itself is refused', async () => {
  expect(await open({ double: node('double'), square: node('cube') })).toMatchObject({
    code: 'no-backend',
    message: expect.stringMatching(/Node "square": .*cube.*404/),
  });
  const named = await open(
    { double: node('double'), square: node('square') },
    {},
    { engine: { remote: { model: 'ocr' } } },
  );
  expect(named).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining(
      'engine.remote.model: a workflow is no model of a server; each of its nodes is one.',
    ),
  });
});
