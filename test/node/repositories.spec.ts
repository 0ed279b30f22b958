// Repositories in Hugging Face's layout: from their folder, and from the archive that `tabserve archive` packs of it.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { createArchive } from '../../src/tools/cli/archive.ts';
import { soundOf } from '../models/tasks/sound.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');

const MODELS = fileURLToPath(new URL('test/models/', root));

/** The repositories of the tests, by their paths. Those without an architecture need a handler. */
const REPOSITORIES = readdirSync(MODELS, { recursive: true, encoding: 'utf8' })
  .filter((path) => basename(path) === 'config.json' && path.split('/').length <= 3)
  .map((path) => path.replace(/\/?config\.json$/, ''))
  .filter((path) =>
    readdirSync(join(MODELS, path), { recursive: true, encoding: 'utf8' }).some((file) => file.endsWith('.onnx')),
  )
  .sort();

/** Of the first photo's size in make.py: some graphs are for tensors of one size. */
const PHOTO = { data: Uint8Array.from({ length: 61 * 47 * 3 }, (_, at) => (at * 7) % 256), dims: [47, 61, 3] };
/** Longer than most limits, and with words that the vocabularies have. */
const TEXTS = ['the population of london', `A good film ${'good very bad cat '.repeat(40)}`];

interface Task {
  readonly rows: readonly {
    readonly repository: string;
    readonly handler?: string;
    readonly requests: readonly { readonly input: unknown; readonly params?: object }[];
  }[];
}

const TASKS = readdirSync(join(MODELS, 'tasks'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(MODELS, 'tasks', name), 'utf8')) as Task);

/** What the tasks of `test/models/tasks` ask their repositories, by the repository's name. */
const REQUESTS = new Map(
  TASKS.flatMap(({ rows }) =>
    rows.map(({ repository, handler, requests }) => [
      repository,
      {
        handler,
        inputs: requests.map(({ input }) => inputOf(input)),
        params: requests[0]!.params ?? {},
      },
    ]),
  ),
);

/** Returns an input with another photo in the place of make.py's, and its sounds. */
function inputOf(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  if ('photo' in input) return PHOTO;
  if ('sound' in input) return { samples: soundOf(input.sound as number), sampleRate: 16_000 };
  if (Array.isArray(input)) return input.map(inputOf);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, inputOf(value)]));
}

/**
 * Returns the answers of a model; the code of the error for a text that is too long for it.
 * @param asked in place of the usual inputs and params
 */
async function answers(
  source: URL,
  asked: { readonly inputs: readonly unknown[]; readonly params: object } | undefined,
  handler?: string,
  dtype?: 'fp32',
): Promise<readonly unknown[]> {
  await using client = await load(source, {
    handler: handler as never,
    ...(dtype && { config: { engine: { dtype } } }),
    backends: ['onnx/cpu'],
  });
  const { takes, handler: own } = await client.describe();
  const inputs = asked?.inputs ?? (takes === 'image' ? [PHOTO] : TEXTS);
  const params = asked?.params ?? (own === 'text_generator' ? { maxNewTokens: 4 } : {});
  const [first, ...others] = await client.handle(inputs as never, { params: params as never });
  if (first instanceof Error) throw first;
  return [first, ...others.map((row) => (row instanceof Error ? (row as { code?: string }).code : row))];
}

test('there are repositories of every kind', () => {
  expect(REPOSITORIES.length).toBeGreaterThan(15);
});

// `npm test` packs one of each layout: the first of each task is run in a browser (`coverage.spec.ts`).
const PACKED = new Set([
  'generation/llama',
  'generation/t5',
  'hugging-face/precisions',
  'sentences',
  'tasks/embed-clip',
  'tasks/image-vit',
  'tasks/prompt-sam',
  'tasks/tokens-bert',
]);
for (const repository of REPOSITORIES) {
  const asked = REQUESTS.get(basename(repository));
  const tag = PACKED.has(repository) ? '' : ' @full';
  test(`${repository}: the folder and the archive that is packed from it answer the same${tag}`, async () => {
    const folder = join(MODELS, repository);
    const { architectures = [''] } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as {
      architectures?: string[];
    };
    // Of several precisions, an archive gets the full one.
    const dtype = existsSync(join(folder, 'onnx/model.onnx')) ? 'fp32' : undefined;
    // A folder that names no architecture, and is none of a task, has a text's features.
    const handler = asked ? asked.handler : architectures[0] === '' ? 'text_feature_extractor' : undefined;
    const right = await answers(pathToFileURL(`${folder}/`), asked, handler, dtype);
    const { path } = await createArchive({
      'model-name': 'packed',
      'serialized-file': folder,
      handler,
      'export-path': mkdtempSync(join(tmpdir(), 'tabserve-')),
    });
    expect(await answers(pathToFileURL(path), asked)).toEqual(right);
  });
}

test('a language model whose name says that it makes vectors does so, with the prompt of its card', async () => {
  // As it is converted: without the files of sentence-transformers.
  const folder = join(mkdtempSync(join(tmpdir(), 'tabserve-')), 'Qwen3-Embedding-0.6B-ONNX');
  const source = join(MODELS, 'tasks/embed-qwen3');
  cpSync(source, folder, { recursive: true, filter: (path) => !/modules|sentence|_Pooling/.test(path) });
  const { rows } = TASKS.find(({ rows: [first] }) => first!.repository === 'embed-minilm') as unknown as {
    rows: readonly {
      repository: string;
      requests: readonly { input: string; params: object; answer: readonly number[] }[];
    }[];
  };
  await using client = await load(pathToFileURL(`${folder}/`), { backends: ['onnx/cpu'] });
  expect((await client.describe()).handler).toBe('text_feature_extractor');
  // The limit of the other repository is that of its tokenizer's file, too.
  for (const { input, params, answer } of rows.find(({ repository }) => repository === 'embed-qwen3')!.requests) {
    const vector = (await client.predict(input as never, { params: params as never })) as unknown as Float32Array;
    expect([...vector]).toEqual(answer.map((value): unknown => expect.closeTo(value, 5)));
  }
});

test('the towers of CLIP with their projection: without an option, the vectors that transformers computes', async () => {
  const expected = JSON.parse(readFileSync(join(MODELS, 'hugging-face/projections.json'), 'utf8')) as {
    texts: string[];
    text_embeds: number[][];
    side: number;
    image_embeds: number[];
  };
  const open = (name: string) => load(pathToFileURL(join(MODELS, `hugging-face/${name}/`)), { backends: ['onnx/cpu'] });
  const near = (vector: readonly number[]) => vector.map((value) => expect.closeTo(value, 5));
  await using texts = await open('clip-text');
  const vectors = (await texts.handle(expected.texts as never)) as unknown as readonly Float32Array[];
  expect(vectors.map((vector) => [...vector])).toEqual(expected.text_embeds.map(near));
  await using images = await open('clip-vision');
  const { side } = expected;
  // The formula of projections.py.
  const at = (x: number, y: number): readonly number[] => [x * 16, y * 16, (x * 3 + y * 5) % 256];
  const data = Uint8Array.from(
    Array.from({ length: side * side }, (_, index) => at(index % side, Math.floor(index / side))).flat(),
  );
  const vector = (await images.predict({ data, dims: [side, side, 3] } as never)) as unknown as Float32Array;
  expect([...vector]).toEqual(near(expected.image_embeds));
});
