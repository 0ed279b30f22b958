// What a call of a pipeline sends to its client, and what it refuses. The values are those of Python's pipelines in `test/node/pipeline.spec.ts`.
import { expect, test } from '@playwright/test';
import { addressOf } from '../../../../src/page/pipeline/inputs.ts';
import { pipeline, type PipelineTask } from '../../../../src/pipeline.ts';

const wrong = (message: string) => ({ code: 'invalid-input', message: expect.stringContaining(message) });

/** A pipeline over a client that keeps what it is asked. */
async function faked(task: PipelineTask, handler: string, answer: unknown) {
  const asked: { rows: readonly unknown[]; params: object }[] = [];
  const client = {
    describe: async () => ({ handler }) as never,
    handle: async (rows: readonly never[], { params }: { params: object }) => {
      asked.push({ rows, params });
      return rows.map(() => answer);
    },
    dispose: async () => {},
  };
  const call = (await pipeline(task, client as never)) as unknown as (...args: readonly unknown[]) => Promise<unknown>;
  return { asked, call };
}

test('a repository by its name, with a revision; a relative path stays a path', () => {
  for (const [model, revision, address] of [
    ['ORG/NAME', undefined, 'hf:ORG/NAME'],
    ['ORG/na.me-2.5', 'v1', 'hf:ORG/na.me-2.5@v1'],
    ['ORG/NAME', null, 'hf:ORG/NAME'],
    ['./model', undefined, './model'],
    ['../model', undefined, '../model'],
    ['/models/a', null, '/models/a'],
  ] as const)
    expect(addressOf(model, revision)).toBe(address);
  for (const model of ['hf:ORG/NAME', './model', new URL('https://example.com/m/')])
    expect(() => addressOf(model, 'v1')).toThrow(expect.objectContaining(wrong('revision: it belongs to')));
});

for (const [task, handler] of [
  ['image-classification', 'image_classifier'],
  ['audio-classification', 'audio_classifier'],
  ['text-classification', 'text_classifier'],
] as const)
  test(`${task}: top_k null asks for more classes than any model has, whatever its config says`, async () => {
    const { asked, call } = await faked(task, handler, []);
    await call(new Blob(), { top_k: null });
    expect(asked[0]!.params).toEqual({ topK: Number.MAX_SAFE_INTEGER });
  });

for (const [task, handler, first, answer] of [
  ['text-generation', 'text_generator', 'a', { text: 'b' }],
  ['summarization', 'text_to_text', 'a', { text: 'b' }],
  ['image-to-text', 'image_to_text', new Blob(), { text: 'b' }],
  ['automatic-speech-recognition', 'speech_to_text', new Blob(), { text: 'b' }],
  ['text-classification', 'text_classifier', 'a', [{ label: 'b', score: 1 }]],
  ['depth-estimation', 'depth_estimator', new Blob(), { depth: [0], width: 1, height: 1, min: 0, max: 0 }],
] as const)
  test(`${task}: options may be null, and are an object else`, async () => {
    const { asked, call } = await faked(task, handler, answer);
    expect(await call(first, null)).toEqual(await call(first));
    await expect(call(first, 5)).rejects.toMatchObject(wrong('options: expected an object, got 5.'));
    await expect(call(first, 'fast')).rejects.toMatchObject(wrong('options: expected an object, got "fast".'));
    expect(asked).toHaveLength(2);
  });

test('zero-shot-audio-classification: labels and a template; samples are those of 48 kHz', async () => {
  const found = [{ label: 'rain', score: 1 }];
  const { asked, call } = await faked('zero-shot-audio-classification', 'zero_shot_audio_classifier', found);
  const samples = new Float32Array(4);
  expect(await call(samples, ['rain', 'wind'], { hypothesis_template: 'I hear {}.' })).toEqual(found);
  expect(asked[0]).toMatchObject({
    rows: [{ samples, sampleRate: 48_000 }],
    params: { labels: ['rain', 'wind'], hypothesisTemplate: 'I hear {}.' },
  });
});

test('text-generation: return_full_text null is the default, and tools need messages', async () => {
  const { call } = await faked('text-generation', 'text_generator', { text: 'b' });
  expect(await call('a', { return_full_text: null })).toEqual([{ generated_text: 'ab' }]);
  await expect(call('a', { return_full_text: 'no' })).rejects.toMatchObject(wrong('return_full_text: expected true'));
  await expect(call('a', { tools: [{}] })).rejects.toMatchObject(wrong('tools: they need a list of messages'));
});

test('what a pipeline would leave unread is refused', async () => {
  const depth = await faked('depth-estimation', 'depth_estimator', {});
  await expect(depth.call(new Blob(), { size: 3 })).rejects.toMatchObject(
    wrong('size: this pipeline takes no options'),
  );
  const cut = await faked('background-removal', 'background_remover', {});
  await expect(cut.call(new Blob(), { size: 3 })).rejects.toMatchObject(wrong('size: this pipeline takes no options'));
  const find = await faked('zero-shot-object-detection', 'zero_shot_object_detector', [1, 2, 3]);
  for (const count of [-1, 0, 1.5, NaN, '2'])
    await expect(find.call(new Blob(), ['a'], { top_k: count })).rejects.toMatchObject(wrong('top_k: expected'));
  expect(await find.call(new Blob(), ['a'], { top_k: 2 })).toEqual([1, 2]);
});

test('image-segmentation: the thresholds of transformers.js, in pixels of runs', async () => {
  const mask = { width: 3, height: 2, runs: Uint32Array.of(1, 2, 5, 1) };
  const { asked, call } = await faked('image-segmentation', 'instance_segmenter', [{ label: 'cat', score: 0.9, mask }]);
  const data = Uint8ClampedArray.of(0, 255, 255, 0, 0, 255);
  const found = [{ label: 'cat', score: 0.9, mask: { data, width: 3, height: 2, channels: 1 } }];
  expect(await call(new Blob())).toEqual(found);
  expect(await call([new Blob()], { threshold: 0.7 })).toEqual([found]);
  expect(asked.map(({ params }) => params)).toEqual([
    { scoreThreshold: 0.5, maskThreshold: 0.5, overlapThreshold: 0.8 },
    { scoreThreshold: 0.7, maskThreshold: 0.5, overlapThreshold: 0.8 },
  ]);
  await expect(call(new Blob(), { subtask: 'panoptic' })).rejects.toMatchObject(
    wrong('subtask: this pipeline takes threshold, mask_threshold, overlap_mask_area_threshold.'),
  );
});

test('image-to-image: a picture that is not opaque keeps its fourth channel', async () => {
  const data = Uint8ClampedArray.of(1, 2, 3, 255, 4, 5, 6, 254);
  const clear = await faked('image-to-image', 'image_to_image', { width: 2, height: 1, data });
  expect(await clear.call(new Blob())).toEqual({ width: 2, height: 1, data, channels: 4 });
});

test('document-question-answering: 256 tokens unless the call says so; no answer is null', async () => {
  const { asked, call } = await faked('document-question-answering', 'document_question_answerer', { text: '' });
  const image = new Blob();
  expect(await call(image, 'What is the total?')).toEqual([{ answer: null }]);
  expect(asked[0]).toEqual({ rows: [{ image, question: 'What is the total?' }], params: { maxNewTokens: 256 } });
});

test('a client has its options already; what describe rejects with is told, whatever dispose does', async () => {
  const fail = (message: string) => async () => {
    throw new Error(message);
  };
  const client = { describe: fail('described'), handle: fail('handled'), dispose: fail('disposed') } as never;
  await expect(pipeline('summarization', client, { dtype: 'q8' })).rejects.toMatchObject(wrong('dtype: a client has'));
  await expect(pipeline('summarization', client, null as never)).rejects.toThrow('described');
});
