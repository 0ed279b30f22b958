import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/index.ts';
import { prestart } from '../../../../src/page/workers/worker-factory.ts';
import { notLoaded } from '../../../../src/page/workers/start-worker.ts';
import { startWorker } from '../../../../src/page/workers/start-worker.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

class CountedWorker extends EchoWorker {
  terminated = 0;
  override terminate(): void {
    this.terminated += 1;
    super.terminate();
  }
}

test('the worker is made before the scripts that open a model are asked for, once', async () => {
  const made: CountedWorker[] = [];
  const factory = (): Worker => {
    made.push(new CountedWorker());
    return made.at(-1) as unknown as Worker;
  };
  const client = connect(factory, { model: 'http://127.0.0.1/model.onnx', backends: ['wasm'] });
  const opening = client.initialize();
  expect(made).toHaveLength(1);
  await opening;
  expect(made).toHaveLength(1);
  await client.dispose();
  expect(made[0]!.terminated).toBeGreaterThan(0);
});

test('a worker that was made early ends if the model cannot be opened', async () => {
  const made = new CountedWorker();
  const client = connect(() => made as unknown as Worker, {} as never);
  await expect(client.initialize()).rejects.toMatchObject({ code: 'model-config' });
  expect(made.terminated).toBe(1);
});

function askedAgain(): never {
  throw new Error('another worker was made');
}

test('a worker that is ready before anybody waits for it has started', async () => {
  const prestarted = prestart(() => new EchoWorker() as unknown as Worker)!;
  await prestarted.firstEvent;
  const started = await startWorker(askedAgain, {
    signal: undefined,
    startupTimeout: 1,
    prestarted,
  });
  expect(started).toBe(prestarted.worker);
});

test('a factory that fails is asked again when its failure can be reported', async () => {
  let calls = 0;
  const client = connect(
    () => {
      calls += 1;
      throw new Error('no worker today');
    },
    { model: 'http://127.0.0.1/model.onnx' },
  );
  await expect(client.initialize()).rejects.toMatchObject({
    code: 'worker-failed',
    message: expect.stringMatching(/no worker today/),
  });
  expect(calls).toBe(2);
});

test('the workers of an async factory end, and the error says that it must return a Worker', async () => {
  const made: CountedWorker[] = [];
  const factory = async (): Promise<Worker> => {
    made.push(new CountedWorker());
    return made.at(-1) as unknown as Worker;
  };
  const client = connect(factory as unknown as () => Worker, { model: 'http://127.0.0.1/model.onnx' });
  await expect(client.initialize()).rejects.toMatchObject({
    code: 'worker-failed',
    message: expect.stringContaining('must return a Worker'),
  });
  expect(made.map(({ terminated }) => terminated)).toEqual(made.map(() => 1));
  expect(made.length).toBeGreaterThan(0);
});

test('a worker whose script cannot be loaded: what to do, for each kind of bundler', () => {
  expect(notLoaded('https://app.example/worker.js')).toContain(
    'Publish the whole build. With esbuild, Rollup or Parcel: Run `npx tabserve copy',
  );
});
