import { expect, test } from './fixtures.ts';

/** A custom handler's failures cross the worker whole, and cost nobody else anything. */
test('errors of each stage keep code, stage, message and cause @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect(window.workers.failing, {
      model: '/test/models/affine_fixed.onnx',
      backends: [backend],
    });
    await client.initialize();
    const input = { data: new Float32Array([1, 2, 3, 4]), dims: [4] };
    const failures: Record<string, unknown> = {};
    for (const stage of ['preprocess', 'inference', 'postprocess']) {
      try {
        await client.predict(input as never, { params: { throw: stage } });
      } catch (error) {
        const { name, code, stage: where, message, cause } = error as Error & { code: string; stage: string };
        const inner = cause as Error & { code: string };
        failures[stage] = {
          name,
          code,
          where,
          message,
          ours: error instanceof window.tabserve.TabServeError,
          inner: [inner.name, inner.message, inner.code, (inner.cause as Error).message],
        };
      }
    }
    const coded = await window.failure(client.predict(input as never, { params: { throwCoded: 'postprocess' } }));
    const text = await window.failure(client.predict(input as never, { params: { throwText: 'inference' } }));
    const after = await client.predict(input as never);
    return { failures, coded, text, after: Object.keys(after as object) };
  }, backend);
  for (const stage of ['preprocess', 'inference', 'postprocess']) {
    expect(answer.failures[stage]).toEqual({
      name: 'TabServeError',
      code: 'handler-failed',
      where: stage,
      message: `${stage} is broken`,
      ours: true,
      inner: ['TypeError', `${stage} is broken`, 'E_BROKEN', 'deep inside'],
    });
  }
  expect(answer.coded).toMatchObject({
    name: 'PredictionError',
    code: 'unsupported',
    stage: 'postprocess',
    message: 'not today',
  });
  expect(answer.text).toMatchObject({ code: 'handler-failed', stage: 'inference', message: 'just text' });
  expect(answer.after).toEqual(['y']);
});

test('a batch that breaks the contract, and rows that fail alone @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect(window.workers.failing, {
      model: '/test/models/affine_fixed.onnx',
      backends: [backend],
    });
    await client.initialize();
    const row = (first: number) => ({ data: new Float32Array([first, 2, 3, 4]), dims: [4] });
    const codes = async (rows: unknown[], params: Record<string, unknown>) =>
      (await client.handle(rows as never[], { params })).map((one) =>
        one instanceof window.tabserve.PredictionError ? `${one.code}: ${one.message}` : 'answer',
      );
    return {
      few: await window.failure(client.handle([row(1), row(2)] as never[], { params: { results: 'too-few' } })),
      none: await window.failure(client.handle([row(1)] as never[], { params: { results: 'none' } })),
      uncloneable: await codes([row(1), row(2)], { results: 'function' }),
      failed: await codes([row(1), row(2), row(3)], { failRow: 1 }),
      poisoned: await codes([row(1), row(666), row(3)], { poison: 'preprocess' }),
      after: await codes([row(1)], {}),
    };
  }, backend);
  expect(answer.few).toMatchObject({ code: 'batch-contract' });
  expect(answer.few.message).toMatch(/2 rows.*1 results/);
  expect(answer.none).toMatchObject({ code: 'batch-contract' });
  expect(answer.uncloneable).toEqual([expect.stringContaining('not-cloneable'), 'answer']);
  expect(answer.failed).toEqual(['answer', 'handler-failed: row 1 is bad', 'answer']);
  expect(answer.poisoned).toEqual(['answer', 'handler-failed: a poisoned row', 'answer']);
  expect(answer.after).toEqual(['answer']);
});

test('an input that cannot be sent to the worker: a typed error @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect(window.workers.failing, {
      model: '/test/models/affine_fixed.onnx',
      backends: [backend],
    });
    await client.initialize();
    const failure = await window.failure(client.predict({ x: () => 1 } as never));
    return {
      failure,
      after: Object.keys((await client.predict({ data: new Float32Array(4), dims: [4] } as never)) as object),
    };
  }, backend);
  expect(answer.failure).toMatchObject({ code: 'not-cloneable' });
  expect(answer.after).toEqual(['y']);
});

test('inputs are copied unless the caller gives them away @once', async ({ open }) => {
  const page = await open();
  const lengths = await page.evaluate(async () => {
    const client = await window.tabserve.load('/test/models/affine_fixed.onnx', {
      handler: 'base_handler',
      backends: ['wasm'],
    });
    const data = new Float32Array(4);
    await client.predict({ data, dims: [4] });
    const kept = data.length;
    await client.predict({ data, dims: [4] }, { transfer: true });
    return [kept, data.length];
  });
  expect(lengths).toEqual([4, 0]);
});

test('describe and explain reach the handler @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: ['wasm'] });
    const upscaler = await window.tabserve.load('/models/upscaler/', { handler: 'image_to_image', backends: ['wasm'] });
    return {
      description: await client.describe(),
      explanation: await window.failure(upscaler.explain({ data: new Uint8Array(48), dims: [4, 4, 3] } as never)),
    };
  });
  expect(answer.description).toMatchObject({
    modelName: 'digits',
    inputs: [{ name: 'image', dtype: 'float32', dims: [1, 1, 28, 28] }],
  });
  expect(answer.explanation).toMatchObject({ code: 'unsupported' });
});
