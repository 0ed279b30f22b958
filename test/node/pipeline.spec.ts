// `tabserve/pipeline` over models of random weights: the calls of transformers.js, and the values of Python's pipelines.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { PipelineTask } from '../../src/pipeline.ts';
import { soundOf } from '../models/tasks/sound.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');
const { pipeline, PipelineTensor } = (await import(
  new URL('dist/pipeline.js', root).href
)) as typeof import('../../src/pipeline.ts');

interface Scored {
  readonly label: string;
  readonly score: number;
}

interface Photo {
  readonly photo: readonly [number, number];
}

interface Sound {
  readonly sound: number;
}

interface Asked<Input, Answer> {
  readonly input: Input;
  readonly params: { readonly labels: string[]; readonly maxNewTokens: number; readonly scoreThreshold: number };
  readonly answer: Answer;
}

interface Row {
  readonly repository: string;
  readonly requests: readonly { readonly input: never; readonly params?: never; readonly answer: never }[];
}

/** Returns what Python answers. */
function asked<Input = string, Answer = readonly Scored[]>(handler: string, repository: string): Asked<Input, Answer> {
  const { rows } = JSON.parse(readFileSync(new URL(`test/models/tasks/${handler}.json`, root), 'utf8')) as {
    readonly rows: readonly Row[];
  };
  const { input, params = {}, answer } = rows.find((row) => row.repository === repository)!.requests[0]!;
  return { input, params: params as Asked<Input, Answer>['params'], answer };
}

async function open<Task extends PipelineTask>(task: Task, repository: string, handler?: string) {
  const client = await load(new URL(`test/models/tasks/${repository}/`, root), {
    handler: handler as never,
    backends: ['onnx/cpu'],
  });
  return await pipeline(task, client);
}

/** The photo of `make/basics.py`. */
function photo([width, height]: readonly [number, number]): object {
  const at = (index: number): readonly number[] => {
    const [x, y] = [index % width, Math.floor(index / width)];
    return [Math.floor((x * 255) / (width - 1)), Math.floor((y * 255) / (height - 1)), (x * 3 + y * 5) % 256];
  };
  return {
    data: Uint8Array.from(Array.from({ length: width * height }, (_, index) => at(index)).flat()),
    dims: [height, width, 3],
  };
}

const near = (value: number): unknown => expect.closeTo(value, 4);
const scored = (found: readonly { readonly score: number }[]): object[] =>
  found.map((one) => ({ ...one, score: near(one.score) }));

test('texts: classes, entities, answers, words and labels', async () => {
  const classes = asked('text_classifier', 'classify-bert');
  const classify = await open('text-classification', 'classify-bert');
  const all = scored(classes.answer);
  expect(await classify(classes.input)).toEqual(all.slice(0, 1));
  expect(await classify(classes.input, { top_k: 2 })).toEqual(all.slice(0, 2));
  expect(await classify([classes.input, classes.input])).toEqual([all[0], all[0]]);
  expect(await classify([classes.input], { top_k: null })).toEqual([all]);
  await classify.dispose();

  const entities = asked('token_classifier', 'tokens-bert');
  const find = await open('token-classification', 'tokens-bert');
  expect(await find(entities.input)).toEqual(
    entities.answer.map(({ label, score, ...rest }) => ({ entity: label, score: near(score), ...rest })),
  );
  const [group] = await find(entities.input, { aggregation_strategy: 'simple' });
  expect(Object.keys(group!)).toContain('entity_group');
  await find.dispose();

  const { input, answer } = asked<{ question: string; context: string }>('question_answerer', 'answer-bert');
  const ask = await open('question-answering', 'answer-bert');
  expect(await ask(input.question, input.context)).toEqual(scored(answer)[0]);
  expect(await ask(input.question, input.context, { top_k: 3 })).toHaveLength(3);
  await ask.dispose();

  const masks = asked<string, readonly [readonly Scored[]]>('fill_mask', 'fill-mask-bert');
  const fill = await open('fill-mask', 'fill-mask-bert');
  expect(await fill(masks.input)).toEqual(
    masks.answer[0].map(({ label, score, ...rest }) => ({ ...rest, token_str: label, score: near(score) })),
  );
  await fill.dispose();

  const labels = asked('zero_shot_text_classifier', 'zero-shot-bart');
  const choose = await open('zero-shot-classification', 'zero-shot-bart', 'zero_shot_text_classifier');
  const expected = {
    sequence: labels.input,
    labels: labels.answer.map(({ label }) => label),
    scores: labels.answer.map(({ score }) => near(score)),
  };
  expect(await choose(labels.input, labels.params.labels)).toEqual(expected);
  expect(await choose([labels.input], labels.params.labels)).toEqual([expected]);
  await choose.dispose();
});

test('vectors, and texts that are written', async () => {
  const { input, answer } = asked<string, readonly number[]>('text_feature_extractor', 'embed-minilm');
  const embed = await open('feature-extraction', 'embed-minilm');
  const found = await embed([input, input], { pooling: 'mean', normalize: true });
  expect(found).toBeInstanceOf(PipelineTensor);
  expect([found.type, found.dims, found.size]).toEqual(['float32', [2, answer.length], 2 * answer.length]);
  expect(found.tolist()).toEqual([answer.map(near), answer.map(near)]);
  const length = Math.hypot(...(await embed(input, { pooling: 'mean' })).data);
  expect(Math.abs(length - 1), 'not normalized').toBeGreaterThan(1e-3);
  await expect(embed(input, {} as never)).rejects.toMatchObject({ code: 'invalid-input' });
  await embed.dispose();

  const text = asked<string, { text: string }>('text_generator', 'write-llama');
  const write = await open('text-generation', 'write-llama');
  const params = { max_new_tokens: text.params.maxNewTokens };
  expect(await write(text.input, params)).toEqual([{ generated_text: text.input + text.answer.text }]);
  expect(await write(text.input, { ...params, return_full_text: false })).toEqual([
    { generated_text: text.answer.text },
  ]);
  await write.dispose();
});

test('images: classes, objects and depth', async () => {
  const classes = asked<Photo>('image_classifier', 'image-vit');
  const classify = await open('image-classification', 'image-vit');
  const image = photo(classes.input.photo) as never;
  expect(await classify(image)).toEqual(scored(classes.answer).slice(0, 5));
  expect(await classify([image], { top_k: 1 })).toEqual([scored(classes.answer).slice(0, 1)]);
  await classify.dispose();

  const objects = asked<Photo>('object_detector', 'detect-detr');
  const detect = await open('object-detection', 'detect-detr');
  const found = await detect(photo(objects.input.photo) as never, { threshold: objects.params.scoreThreshold });
  expect(found.map(({ label, score }) => ({ label, score }))).toEqual(
    objects.answer.map(({ label, score }) => ({ label, score: near(score) })),
  );
  expect(await detect(photo(objects.input.photo) as never), 'at 0.9').toEqual([]);
  await detect.dispose();

  const { input, answer } = asked<Photo, { width: number; height: number; depth: readonly number[] }>(
    'depth_estimator',
    'depth-anything',
  );
  const estimate = await open('depth-estimation', 'depth-anything');
  const { predicted_depth: depth, depth: gray } = await estimate(photo(input.photo) as never);
  expect(depth.dims).toEqual([answer.height, answer.width]);
  const [least, most] = [Math.min(...answer.depth), Math.max(...answer.depth)];
  expect([gray.width, gray.height, gray.channels]).toEqual([answer.width, answer.height, 1]);
  for (const [at, value] of answer.depth.entries()) {
    expect(depth.data[at]).toBeCloseTo(value, 3);
    expect(Math.abs(gray.data[at]! - ((value - least) / (most - least)) * 255)).toBeLessThan(1);
  }
  await estimate.dispose();
});

interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** The pixels of a mask of runs. */
function bytesOf({ width, height, runs }: Pixels & { readonly runs: readonly number[] }): number[] {
  const bytes = Array.from({ length: width * height }, () => 0);
  for (let at = 0; at < runs.length; at += 2) bytes.fill(255, runs[at]!, runs[at]! + runs[at + 1]!);
  return bytes;
}

test('segments: of a model of queries, of one of classes, and of one of a foreground', async () => {
  const objects = asked<Photo, readonly (Scored & { readonly mask: Pixels & { readonly runs: readonly number[] } })[]>(
    'instance_segmenter',
    'instance-mask2former',
  );
  const segment = await open('image-segmentation', 'instance-mask2former');
  const { scoreThreshold, maskThreshold, overlapThreshold } = objects.params as unknown as Record<string, number>;
  const found = await segment(photo(objects.input.photo) as never, {
    threshold: scoreThreshold!,
    mask_threshold: maskThreshold!,
    overlap_mask_area_threshold: overlapThreshold!,
  });
  expect(objects.answer.length).toBeGreaterThan(0);
  expect(found.map(({ label, score }) => ({ label, score }))).toEqual(
    objects.answer.map(({ label, score }) => ({ label, score: near(score) })),
  );
  for (const [at, { mask }] of objects.answer.entries()) {
    const { data, width, height, channels } = found[at]!.mask;
    expect([width, height, channels]).toEqual([mask.width, mask.height, 1]);
    expect([...data]).toEqual(bytesOf(mask));
  }
  await segment.dispose();

  const { input, answer } = asked<
    Photo,
    Pixels & { readonly classes: readonly number[]; readonly labels: readonly string[] }
  >('image_segmenter', 'segment-segformer');
  const classify = await open('image-segmentation', 'segment-segformer');
  const parts = await classify([photo(input.photo) as never]);
  const indexes = [...new Set(answer.classes)].toSorted((a, b) => a - b);
  expect(indexes.length).toBeGreaterThan(1);
  expect(parts).toHaveLength(1);
  expect(parts[0]!.map(({ label, score }) => [label, score])).toEqual(indexes.map((at) => [answer.labels[at], null]));
  for (const [at, { mask }] of parts[0]!.entries())
    expect([...mask.data]).toEqual(answer.classes.map((one) => (one === indexes[at] ? 255 : 0)));
  await expect(classify(photo(input.photo) as never, { threshold: 0.5 })).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'threshold: this pipeline takes no options.',
  });
  await classify.dispose();

  const person = asked<Photo, { readonly data: readonly number[] }>('background_remover', 'background-modnet');
  const cut = await open('image-segmentation', 'background-modnet');
  const [foreground] = await cut(photo(person.input.photo) as never);
  expect(foreground).toMatchObject({ label: null, score: null });
  const opacity = person.answer.data.filter((_, at) => at % 4 === 3);
  expect(foreground!.mask.data).toHaveLength(opacity.length);
  for (const [at, value] of opacity.entries())
    expect(Math.abs(foreground!.mask.data[at]! - value)).toBeLessThanOrEqual(1);
  await cut.dispose();
});

test('image-to-image: RGB; a document: the answer alone', async () => {
  const { input, answer } = asked<Photo, Pixels & { readonly data: readonly number[] }>(
    'image_to_image',
    'image-swin2sr',
  );
  const enlarge = await open('image-to-image', 'image-swin2sr');
  const { data, ...size } = await enlarge(photo(input.photo) as never);
  expect(size).toEqual({ width: answer.width, height: answer.height, channels: 3 });
  const colors = answer.data.filter((_, at) => at % 4 !== 3);
  expect(data).toHaveLength(colors.length);
  for (const [at, value] of colors.entries()) expect(Math.abs(data[at]! - value)).toBeLessThanOrEqual(1);
  await enlarge.dispose();

  const document = asked<{ image: Photo; question: string }, { readonly answer: string }>(
    'document_question_answerer',
    'documents-donut',
  );
  const read = await open('document-question-answering', 'documents-donut');
  const page = photo(document.input.image.photo) as never;
  const options = { max_new_tokens: document.params.maxNewTokens };
  expect(await read(page, document.input.question, options)).toEqual([{ answer: document.answer.answer }]);
  expect(await read([page], document.input.question, options)).toEqual([{ answer: document.answer.answer }]);
  await expect(read([page, page] as never, document.input.question)).rejects.toMatchObject({ code: 'invalid-input' });
  await read.dispose();
});

test('sound: samples are at 16 kHz, and times are chunks', async () => {
  const sounds = asked<Sound>('audio_classifier', 'sound-wav2-vec2');
  const classify = await open('audio-classification', 'sound-wav2-vec2');
  expect(await classify(soundOf(sounds.input.sound), { top_k: 7 })).toEqual(scored(sounds.answer));
  await classify.dispose();

  const { input, answer } = asked<Sound, { text: string }>('speech_recognizer', 'speech-wav2vec2');
  const transcribe = await open('automatic-speech-recognition', 'speech-wav2vec2');
  expect(await transcribe(soundOf(input.sound))).toEqual({ text: answer.text });
  const { text, chunks } = await transcribe(soundOf(input.sound), { return_timestamps: 'word' });
  expect(text).toBe(answer.text);
  expect(chunks!.map((chunk) => chunk.text.trim()).join(' ')).toBe(text);
  for (const { timestamp } of chunks!) expect(timestamp).toEqual([expect.any(Number), expect.any(Number)]);
  await transcribe.dispose();
});

test('a voice: its samples are those of transformers', async () => {
  const { input, params, answer } = asked<string, { audio: { samples: readonly number[]; sampleRate: number } }>(
    'text_to_speech',
    'speak-vits',
  );
  expect(params).toEqual({});
  const speak = await open('text-to-audio', 'speak-vits');
  const { audio, sampling_rate: rate } = await speak(input);
  expect(rate).toBe(answer.audio.sampleRate);
  expect([...audio]).toEqual(answer.audio.samples.map(near));
  await expect(speak(input, { speed: 9 })).rejects.toMatchObject({ code: 'invalid-input' });
  await speak.dispose();
});

test('what cannot be is a typed error', async () => {
  await expect(pipeline('summarisation' as never, 'ORG/NAME')).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(pipeline('summarization', undefined as never)).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(pipeline('summarization', '/m/', { device: 'cuda' as never })).rejects.toMatchObject({
    code: 'invalid-input',
  });
  await expect(open('summarization', 'classify-bert')).rejects.toMatchObject({
    code: 'model-config',
    message: "summarization reads the results of text_to_text, and the model's handler is text_classifier.",
  });
  const classify = await open('text-classification', 'classify-bert');
  await expect(classify('a', { topK: 3 } as never)).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'topK: this pipeline takes top_k.',
  });
  await classify.dispose();
  await expect(classify('a')).rejects.toMatchObject({ code: 'disposed' });
  const image = await open('image-classification', 'image-vit');
  await expect(image('http://127.0.0.1:9/cat.png')).rejects.toMatchObject({ code: 'network' });
  await image.dispose();
});
