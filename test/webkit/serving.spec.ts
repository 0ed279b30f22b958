import { expect, test } from './fixtures.ts';

const THREE = '/models/digits/samples/drawn-3.png';

test('every kind of input gives the same answer', async ({ open }) => {
  const page = await open();
  const answers = await page.evaluate(async (url) => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier' });
    const blob = await (await fetch(url)).blob();
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    const inputs = [
      blob,
      new URL(url, location.href),
      image,
      canvas,
      await createImageBitmap(blob),
      context.getImageData(0, 0, canvas.width, canvas.height),
      new VideoFrame(canvas, { timestamp: 0 }),
    ];
    const all = await Promise.all(inputs.map((input) => client.predict(input)));
    // A file that was decoded after a bitmap was black.
    all.push(await client.predict(blob));
    const { name } = client.backend!;
    await client.dispose();
    return { name, all: all.map((one) => one.map(({ label, score }) => ({ label, score }))) };
  }, THREE);
  expect(answers.name).toBe('wasm');
  for (const [first] of answers.all) {
    expect(first!.label).toBe('three');
    // A canvas may round a color.
    expect(first!.score).toBeCloseTo(answers.all[0]![0]!.score, 2);
  }
});

for (const kind of ['close', 'block'] as const)
  test(`a worker that is lost (${kind}) is replaced, and its request answered, if it did not take too long`, async ({
    open,
  }) => {
    const page = await open();
    const found = await page.evaluate(async (kind) => {
      const client = window.tabserve.connect(window.workers.faulty, {
        model: '/test/models/affine_fixed.onnx',
        backends: ['wasm'],
        responseTimeout: kind === 'block' ? 6 : 60,
      });
      const causes: string[] = [];
      client.on('recover', ({ cause }) => causes.push(cause.code));
      await client.initialize();
      const input = { data: Float32Array.of(1, 2, 3, 4), dims: [4] } as never;
      const before = await client.predict(input);
      const during = await client
        .predict(input, window.fault(kind, 'inference', 1))
        .catch((error: unknown) => (error as { code: string }).code);
      const after = await client.predict(input);
      await client.dispose();
      return { before, during, after, causes };
    }, kind);
    expect(found.during).toEqual(kind === 'block' ? 'worker-lost' : found.before);
    expect(found.after).toEqual(found.before);
    expect(found.causes).toEqual(['worker-lost']);
  });

test('model and engine are cached, and the cache can be emptied @full', async ({ open }) => {
  const page = await open();
  const { urls, deleted, left } = await page.evaluate(async (url) => {
    const { cache, load } = window.tabserve;
    await cache.delete();
    const client = await load('/models/digits/', { handler: 'image_classifier', backends: ['onnx/wasm'] });
    await client.predict(new URL(url, location.href));
    // Files are stored after the model is open.
    let files = await cache.list();
    while (!['digits.onnx', '.wasm'].every((end) => files.some((one) => one.url.endsWith(end)))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      files = await cache.list();
    }
    await client.dispose();
    return { urls: files.length, deleted: await cache.delete(), left: (await cache.list()).length };
  }, THREE);
  expect(urls).toBeGreaterThan(1);
  expect([deleted >= urls, left]).toEqual([true, 0]);
});

test('a sequence in segments hears what the whole recording has', async ({ open }) => {
  const page = await open();
  const { whole, ends } = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/vad/', {
      handler: 'voice_activity_detector',
      backends: ['wasm'],
    });
    const bytes = await (await fetch('/models/vad/samples/platform.wav')).arrayBuffer();
    const samples = Float32Array.from(new Int16Array(bytes.slice(44)), (value) => value / 32768);
    const { segments } = await client.predict({ samples, sampleRate: 16_000 });
    const sequence = client.openSequence();
    const times: number[] = [];
    for (let at = 0; at < samples.length; at += 16_000) {
      const segment = { samples: samples.slice(at, at + 16_000), sampleRate: 16_000 };
      const { events } = await sequence.predict(segment);
      times.push(...events.filter(({ type }) => type === 'start').map(({ time }) => time));
    }
    await sequence.end();
    await client.dispose();
    return { whole: segments.map(({ start }) => start), ends: times };
  });
  // Python's segments begin at 1.0, 4.1, 7.0 and 9.6 seconds (test/models/vad/goldens.json).
  expect(whole.map((start) => start.toFixed(1))).toEqual(['1.0', '4.1', '7.0', '9.6']);
  expect(ends.length).toBeGreaterThanOrEqual(3);
});

test('a chat is written as transformers writes it, whole and in parts', async ({ open }) => {
  const page = await open();
  const found = await page.evaluate(async () => {
    const expected = (await (await fetch('/test/models/generation/expected.json')).json()) as {
      readonly llama: { readonly prompts: readonly { readonly prompt: string; readonly text: string }[] };
    };
    const [{ prompt, text }] = expected.llama.prompts as [{ prompt: string; text: string }];
    const client = await window.tabserve.load('/test/models/generation/llama/', {
      handler: 'text_generator',
      backends: ['wasm'],
      config: { engine: { dtype: 'fp32' } },
    });
    const whole = await client.predict(prompt, { params: { maxNewTokens: 24 } });
    let parts = '';
    for await (const part of client.stream(prompt, { params: { maxNewTokens: 24 } }))
      if (typeof part === 'string') parts += part;
    await client.dispose();
    return { text, whole: whole.text, parts };
  });
  expect(found.whole).toBe(found.text);
  expect(found.parts).toBe(found.text);
});
