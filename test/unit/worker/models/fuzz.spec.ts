import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { checkGraph } from '../../../../src/worker/engines/tfjs/check-graph.ts';
import { checkLayers } from '../../../../src/worker/engines/tfjs/check-layers.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { readHeader } from '../../../../src/worker/images/header.ts';
import { fetchArchive } from '../../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../../src/worker/models/model-files.ts';
import { checkConfig, parseConfig } from '../../../../src/worker/models/config.ts';
import { readGolden } from '../../../../src/worker/models/golden.ts';
import { readExtras, readManifest } from '../../../../src/worker/models/manifest.ts';
import { readSafetensors } from '../../../../src/worker/tensors/safetensors.ts';
import { readWeightsManifest } from '../../../../src/worker/models/shards.ts';
import { filesSource } from '../../../../src/worker/models/sources/packed.ts';
import { readTorchServe } from '../../../../src/worker/models/torchserve.ts';
import { parseLabels } from '../../../../src/worker/outputs/labels.ts';
import { loadChatTemplate } from '../../../../src/worker/generation/chat.ts';
import { loadHuggingFace } from '../../../../src/worker/text/hugging-face.ts';
import { loadTorchServe } from '../../../../src/worker/text/torchserve.ts';
import { createTestContext, ImageClassifier, ObjectDetector, type Files } from '../../../../src/worker.ts';
import { casesOf, Outcomes, SEED, type Kind } from '../../../fuzz/cases.ts';
import { openFolder, openRepository } from '../../../fuzz/hugging-face.ts';
import { askOpenAi } from '../../../fuzz/openai.ts';
import { writeChecksums } from '../../../fuzz/tar.ts';
import { stubSession } from '../../support/stub-session.ts';

/**
 * Damaged files of every kind that is read without an engine or a decoder. Each is answered within five seconds and a
 * gigabyte of memory, by a result or by an error of ours. `npm run fuzz` runs many, and those that need a browser (`test/browser/fuzz.spec.ts`);
 * the suite runs a few.
 */
const COUNT = Number(process.env['FUZZ_COUNT'] ?? 1500);
const LIMIT_MS = 5000;
const LIMIT_BYTES = 2 ** 30;

const TEXT = 'test/models/text';
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const files = (name: string, bytes: Uint8Array): Files =>
  createTestContext({ session: stubSession([], [], () => ({})), files: { [name]: bytes } }).files;
const image = { name: 'image', dtype: 'float32', dims: ['batch', 3, 'height', 'width'] } as const;
const initialize = async (
  config: never,
  outputs: readonly { name: string; dtype: 'float32'; dims: (string | number)[] }[],
) => {
  const session = stubSession([image], outputs, () => ({}));
  const handler = outputs.length > 1 ? new ObjectDetector() : new ImageClassifier();
  await handler.initialize(createTestContext({ session, config }));
};
const archiveFile = (path: string): Blob =>
  new Blob([readFileSync(new URL(`../../../models/tiny-archive/${path}`, import.meta.url))]);

const CHAT = [
  { role: 'user', content: 'What is 1 + 1?' },
  { role: 'assistant', content: '<think>Easy.</think>2' },
  { role: 'user', content: 'And 2 + 2?' },
];

/** The kinds, how much of the count each is, and who reads it. */
const KINDS: Readonly<Record<string, Kind & { share: number; run(bytes: Uint8Array, seed: string): unknown }>> = {
  onnx: {
    share: 3,
    mutate: 'bytes',
    files: ['affine', 'branch', 'dtypes', 'float16', 'strings', 'tiny_classifier', 'where'].map(
      (name) => `test/models/${name}.onnx`,
    ),
    run: readSignature,
  },
  'model.json': {
    share: 4,
    mutate: 'json',
    files: [
      'affine',
      'affine.layers',
      'branch',
      'decisions',
      'tiny_classifier',
      'tiny_classifier_batch.layers',
      'two_inputs.layers',
    ].map((name) => `test/models/tfjs/${name}.json`),
    run(bytes) {
      readWeightsManifest(decode(bytes), 'model.json');
      const { modelTopology } = JSON.parse(decode(bytes)) as { modelTopology: Record<string, unknown> };
      if (modelTopology['node'] === undefined) checkLayers(modelTopology, 'model.json');
      else checkGraph(modelTopology, 'model.json');
    },
  },
  manifest: {
    share: 2,
    mutate: 'json',
    files: ['test/models/tiny-archive/MAR-INF/MANIFEST.json', `${TEXT}/word-piece/MAR-INF/MANIFEST.json`],
    run: (bytes) => readManifest(decode(bytes)),
  },
  'tabserve.json': {
    share: 2,
    mutate: 'json',
    files: ['test/models/two-formats/tabserve.json', `${TEXT}/word-piece/tabserve.json`],
    run: (bytes) => readExtras(decode(bytes)),
  },
  'config YAML': {
    share: 3,
    mutate: 'bytes',
    files: ['test/fuzz/detector.yaml', `${TEXT}/embedding-bag/model-config.yaml`],
    run: async (bytes) => checkConfig(await parseConfig(decode(bytes), 'model-config.yaml'), () => {}),
  },
  config: {
    share: 3,
    mutate: 'json',
    files: ['test/fuzz/classifier.json'],
    async run(bytes) {
      const config = Object(JSON.parse(decode(bytes))) as never;
      checkConfig(config, () => {});
      await initialize(config, [{ name: 'scores', dtype: 'float32', dims: ['batch', 3] }]);
    },
  },
  detector: {
    share: 3,
    mutate: 'json',
    files: ['test/fuzz/detector.json'],
    async run(bytes) {
      const config = Object(JSON.parse(decode(bytes))) as never;
      checkConfig(config, () => {});
      await initialize(config, [
        { name: 'boxes', dtype: 'float32', dims: ['batch', 'anchors', 4] },
        { name: 'scores', dtype: 'float32', dims: ['batch', 'anchors', 3] },
      ]);
    },
  },
  labels: {
    share: 2,
    mutate: 'json',
    files: ['names', 'object_type_names', 'pairs', 'partial'].map((name) => `test/models/labels_${name}.json`),
    run: (bytes) => parseLabels(JSON.parse(decode(bytes)), 'index_to_name.json'),
  },
  golden: {
    share: 3,
    mutate: 'bytes',
    files: ['test/models/moderation/golden.safetensors', 'public/models/digits/golden.safetensors'],
    run(bytes) {
      readSafetensors(bytes, 'golden.safetensors');
      readGolden(bytes, 'golden.safetensors');
    },
  },
  tokenizer: {
    share: 2,
    mutate: 'json',
    files: ['word-piece', 'byte-level-bpe', 'unigram'].map((name) => `${TEXT}/${name}/tokenizer.json`),
    async run(bytes) {
      const tokenizer = await loadHuggingFace(files('tokenizer.json', bytes));
      tokenizer.encode(`Hello, world! ${'naïve café 天气 '.repeat(20)}`, undefined, 64);
    },
  },
  vocabulary: {
    share: 2,
    mutate: 'json',
    files: [`${TEXT}/embedding-bag/source_vocab.json`],
    async run(bytes) {
      const tokenizer = await loadTorchServe(files('source_vocab.json', bytes), 2);
      tokenizer.encode('Hello, <b>world</b>! '.repeat(20), undefined, 64);
    },
  },
  archive: {
    share: 2,
    mutate: 'json',
    files: ['test/models/tiny-archive/MAR-INF/MANIFEST.json'],
    async run(bytes) {
      const others = ['model-config.yaml', 'index_to_name.json'].map((path) => [path, archiveFile(path)]);
      const source = filesSource('archive', {
        ...Object.fromEntries(others),
        'MAR-INF/MANIFEST.json': new Blob([bytes as BlobPart]),
      });
      await readTorchServe(source, {});
    },
  },
  'packed archive': {
    share: 3,
    mutate: 'bytes',
    files: ['tiny', 'tiny-store'].map((name) => `test/models/archives/${name}.mar`),
    async run(bytes) {
      const archive = await fetchArchive(new File([bytes as BlobPart], 'tiny.mar'), { fetch });
      await fetchModel(archive, 'onnx', { fetch });
    },
  },
  'tar archive': {
    share: 2,
    mutate: 'bytes',
    files: ['test/models/archives/tiny.tar.gz'],
    open: gunzipSync,
    repair: writeChecksums,
    async run(bytes) {
      const archive = await fetchArchive(new File([bytes as BlobPart], 'tiny.tar'), { fetch });
      await fetchModel(archive, 'onnx', { fetch });
    },
  },
  'tar.gz archive': {
    share: 2,
    mutate: 'bytes',
    files: ['test/models/archives/tiny.tar.gz'],
    async run(bytes) {
      const archive = await fetchArchive(new File([bytes as BlobPart], 'tiny.tar.gz'), { fetch });
      await fetchModel(archive, 'onnx', { fetch });
    },
  },
  'Hugging Face': {
    share: 4,
    mutate: 'json',
    files: [
      ...['vit', 'detr', 'rtdetr', 'segformer'].map((name) => `${name}/preprocessor_config`),
      ...['vit', 'detr', 'rtdetr', 'segformer', 'bert', 'distilbert'].map((name) => `${name}/config`),
      'bert/tokenizer_config',
      'bert/tokenizer',
    ].map((path) => `test/models/hugging-face/${path}.json`),
    run: (bytes, seed) => openFolder(seed, bytes),
  },
  repository: {
    share: 4,
    mutate: 'json',
    files: [
      ...['llama', 'qwen3', 'gemma3'].flatMap((name) =>
        ['config', 'generation_config', 'tokenizer', 'tokenizer_config'].map((file) => `generation/${name}/${file}`),
      ),
      ...['config', 'preprocessor_config', 'vocab'].map((file) => `tasks/speech-wav2vec2/${file}`),
      ...['config', 'preprocessor_config'].map((file) => `tasks/embed-clip/${file}`),
      ...['config', 'generation_config', 'tokenizer', 'tokenizer_config'].map((file) => `generation/t5/${file}`),
      ...['config', 'generation_config', 'preprocessor_config', 'tokenizer', 'tokenizer_config'].map(
        (file) => `tasks/write-whisper/${file}`,
      ),
    ].map((path) => `test/models/${path}.json`),
    run: (bytes, seed) => openRepository(seed, bytes),
  },
  'chat template': {
    share: 4,
    mutate: 'bytes',
    files: [
      ...['chatml', 'parts', 'tools', 'blocks', 'reasoning'].map(
        (name) => `test/goldens/chat-templates/templates/${name}.jinja`,
      ),
      ...['llama', 'gemma3', 'qwen3', 'smollm3'].map((name) => `test/models/generation/${name}/chat_template.jinja`),
    ],
    async run(bytes) {
      const template = await loadChatTemplate(files('chat_template.jinja', bytes));
      const tool = { type: 'function', function: { name: 'sum', parameters: { type: 'object', properties: {} } } };
      template!.render({ messages: CHAT });
      template!.render({ messages: CHAT, tools: [tool] }, { enable_thinking: false });
    },
  },
  "OpenAI's body": {
    share: 4,
    mutate: 'json',
    files: ['chat', 'format', 'completion', 'embeddings'].map((name) => `test/fuzz/openai-${name}.json`),
    run: (bytes, seed) => askOpenAi(seed, bytes),
  },
  'image header': {
    share: 4,
    mutate: 'bytes',
    files: [
      '420.jpg',
      'exif-6.jpg',
      'progressive.jpg',
      'alpha.png',
      'exif-6.png',
      'animated.gif',
      'rgb.bmp',
      'lossy.webp',
      'exif-6.webp',
      'lossy.avif',
    ].map((name) => `test/goldens/images/${name}`),
    run: (bytes) => readHeader(bytes),
  },
};

test('the files of which damaged ones are made are read', async () => {
  const refused: string[] = [];
  for (const { files: seeds, open = (bytes: Uint8Array) => bytes, run } of Object.values(KINDS))
    for (const seed of seeds)
      try {
        await run(open(new Uint8Array(readFileSync(new URL(`../../../../${seed}`, import.meta.url)))), seed);
      } catch (error) {
        refused.push(`${seed}: ${String(error)}`);
      }
  expect(refused).toEqual([]);
});

/** Returns the most memory that the process has had, in bytes. */
function peakOfMemory(): number {
  return process.resourceUsage().maxRSS * 1024;
}

test('damaged files that parsers read: a result, or an error of the table', async () => {
  test.setTimeout(3_600_000);
  // Node.js prints what the YAML reader warns of.
  process.removeAllListeners('warning');
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', note);
  const clock = new BigInt64Array(new SharedArrayBuffer(32));
  const watchdog = new Worker(new URL('../../../fuzz/watchdog.mjs', import.meta.url), {
    workerData: { clock, kinds: Object.keys(KINDS), limit: LIMIT_MS },
  });
  const outcomes = new Outcomes();
  const shares = Object.values(KINDS).reduce((sum, { share }) => sum + share, 0);
  for (const [index, [kind, definition]] of Object.entries(KINDS).entries()) {
    for (const { name, seed, bytes } of casesOf(kind, definition, Math.ceil((COUNT * definition.share) / shares))) {
      Atomics.store(clock, 1, BigInt(name.split(':').at(-1)!));
      Atomics.store(clock, 2, BigInt(index));
      const { user, system } = process.cpuUsage();
      Atomics.store(clock, 3, BigInt(user + system));
      Atomics.store(clock, 0, BigInt(Date.now()));
      const before = { now: process.memoryUsage.rss(), peak: peakOfMemory() };
      try {
        await definition.run(bytes, seed);
        outcomes.add(kind, 'answer');
      } catch (error) {
        // Some kinds are read as JSON by the test itself.
        const known = error instanceof SyntaxError && ['labels', 'config', 'detector'].includes(kind);
        outcomes.add(kind, error instanceof TabServeError ? error.code : known ? 'no JSON' : 'untyped');
        if (!(error instanceof TabServeError) && !known)
          outcomes.broken.push(`${name} (${seed}): ${String((error as Error).stack).slice(0, 600)}`);
      }
      Atomics.store(clock, 0, 0n);
      const peak = peakOfMemory();
      if (peak > before.peak && peak - before.now > LIMIT_BYTES)
        outcomes.broken.push(`${name} (${seed}): took ${Math.round((peak - before.now) / 1e6)} MB`);
    }
  }
  await watchdog.terminate();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  if (process.env['FUZZ_COUNT']) console.log(`\nparsers, seed ${SEED}:\n${outcomes.table()}`);
  expect(rejections.map(String)).toEqual([]);
  expect(outcomes.broken.slice(0, 12)).toEqual([]);
});

test('found by fuzzing: labels that cannot be read, beside a config that cannot be read, are no unhandled rejection', async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', note);
  const manifest = { model: { modelName: 'm', serializedFile: 'm.onnx', configFile: 'model-config.yaml' } };
  const source = filesSource('archive', { 'MAR-INF/MANIFEST.json': new Blob([JSON.stringify(manifest)]) });
  const damaged = new TabServeError('model-format', 'damaged');
  const read = async (path: string): Promise<Blob | undefined> => {
    if (path === 'index_to_name.json') throw damaged;
    if (path !== 'model-config.yaml') return await source.read(path);
    await new Promise((resolve) => setImmediate(resolve));
    throw damaged;
  };
  await expect(readTorchServe({ ...source, read }, {})).rejects.toBe(damaged);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(rejections).toEqual([]);
});
