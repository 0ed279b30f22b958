import type { ModelFormat } from '../../src/contract/backends.ts';
import type { Classification } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens, unable } from './goldens.ts';

type Input = string | readonly [string, string];
interface Kind {
  readonly logits: readonly (readonly number[])[];
}

/** By Hugging Face's tokenizers and ONNX Runtime in Python: `test/models/text/make.py`. */
const goldens = readGoldens<{
  readonly texts: readonly string[];
  readonly batch: readonly Input[];
  readonly tokenizers: Readonly<Record<string, Kind>>;
  readonly languages: Kind;
  readonly torchserve: Kind & { readonly bigrams: readonly { text: string }[] };
}>('../models/text/goldens.json');
const LANGUAGES = Object.values(
  readGoldens<Record<string, string>>('../../public/models/languages/index_to_name.json'),
);
const POOLED = ['first', 'second', 'third'];
const NEWS = ['World', 'Sports', 'Business', 'Sci/Tech'];

const TOLERANCE = 1e-4;

const archives: readonly {
  name: string;
  engine?: ModelFormat;
  url: string;
  inputs: readonly Input[];
  logits: readonly (readonly number[])[];
  labels: readonly string[];
}[] = [
  {
    name: 'languages',
    url: '/models/languages/',
    inputs: goldens.texts,
    logits: goldens.languages.logits,
    labels: LANGUAGES,
  },
  {
    name: 'languages',
    engine: 'tfjs',
    url: '/models/languages/',
    inputs: goldens.texts,
    logits: goldens.languages.logits,
    labels: LANGUAGES,
  },
  ...Object.entries(goldens.tokenizers).map(([name, { logits }]) => ({
    name,
    url: `/test/models/text/${name}/`,
    inputs: goldens.batch,
    logits,
    labels: POOLED,
  })),
  {
    name: 'word-piece',
    engine: 'tfjs',
    url: '/test/models/text/word-piece/',
    inputs: goldens.batch,
    logits: goldens.tokenizers['word-piece']!.logits,
    labels: POOLED,
  },
  {
    name: 'embedding-bag',
    url: '/test/models/text/embedding-bag/',
    inputs: goldens.torchserve.bigrams.map(({ text }) => text),
    logits: goldens.torchserve.logits,
    labels: NEWS,
  },
];

for (const { name, engine = 'onnx', url, inputs, logits, labels } of archives) {
  // Tokenizers run on the CPU: on a GPU, two of them show that the ids reach the engine.
  const onGpus = name === 'languages' || name === 'word-piece';
  const tag = `${onGpus ? '' : ' @once'}${onGpus && engine === 'tfjs' ? ' @full' : ' @wasm'}`;
  test(`${name} on ${engine}: from the text to the probabilities as in Python, in one batch and one by one${tag}`, async ({
    open,
    backend,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(!!unable[name]?.[candidate], unable[name]?.[candidate]);
    test.slow(backend !== 'wasm' && name === 'languages');
    const page = await open();
    const answers = await page.evaluate(
      async ({ candidate, url, rows }) => {
        const client = await window.tabserve.load(url, { handler: 'text_classifier', backends: [candidate] });
        const params = { topK: 1000 };
        const batch = (await client.handle(rows, { params })) as Classification[];
        const alone = await Promise.all(rows.slice(0, 4).map((row) => client.predict(row, { params })));
        return { candidate: `${client.backend!.engine}/${client.backend!.name}`, batch, alone };
      },
      {
        candidate,
        url,
        rows: inputs.map((input) => (typeof input === 'string' ? input : { text: input[0], textPair: input[1] })),
      },
    );
    expect(answers.candidate).toBe(candidate);
    expect(answers.batch).toHaveLength(logits.length);
    for (const rows of [answers.batch, answers.alone]) {
      for (const [index, row] of rows.entries()) {
        const expected = softmax(logits[index]!);
        const wrong = labels.filter((label, at) => !(Math.abs(scoreOf(row, label) - expected[at]!) <= TOLERANCE));
        expect(wrong, JSON.stringify(inputs[index])).toEqual([]);
      }
    }
  });
}

function scoreOf(classes: Classification, wanted: string): number {
  return classes.find(({ label }) => label === wanted)?.score ?? NaN;
}

function softmax(logits: readonly number[]): number[] {
  const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

test('every kind of text gives an answer; a row that is none fails alone @once', async ({ open }) => {
  const page = await open();
  const answers = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/languages/', { handler: 'text_classifier', backends: ['wasm'] });
    const text = 'The weather is nice today.';
    const rows = [text, new Blob([text]), { data: text }, { body: new Blob([text]) }, { text }];
    const odd = [
      '',
      ' ',
      '😀👩‍👩‍👧🏳️‍🌈',
      '\ud83d lone \ude00',
      '\0',
      'x'.repeat(100_000),
      'word '.repeat(20_000),
      '好'.repeat(33_000),
    ];
    const oddAnswers = await client.handle(odd);
    const mixed = await client.handle([text, 7 as never, text]);
    return {
      same: (await client.handle(rows)).map((row) => (row as Classification)[0]!),
      odd: oddAnswers.map((row) =>
        row instanceof Error ? row.message : row.every(({ score }) => score >= 0 && score <= 1),
      ),
      mixed: mixed.map((row) =>
        row instanceof window.tabserve.PredictionError ? `${row.code} ${row.stage}` : row[0]!.label,
      ),
      one: (await client.predict(text, { params: { topK: 1 } })).map(({ label }) => label),
      short: await client.predict('The weather is nice today, and so on', { params: { maxLength: 4, topK: 1 } }),
      wrong: await window.failure(client.predict(text, { params: { maxLength: 'long' as never } })),
      fixed: await window.failure(client.predict(text, { params: { tokenizer: 'torchserve' } as object })),
    };
  });
  expect(new Set(answers.same.map(({ label }) => label))).toEqual(new Set(['English']));
  expect(new Set(answers.same.map(({ score }) => score.toFixed(6))).size).toBe(1);
  expect(answers.odd).toEqual(answers.odd.map(() => true));
  expect(answers.mixed).toEqual(['English', 'invalid-input preprocess', 'English']);
  expect(answers.one).toEqual(['English']);
  expect(answers.short).toHaveLength(1);
  expect(answers.wrong).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('params.maxLength') });
  expect(answers.fixed).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('params.tokenizer') });
});

test('initialize fails without a vocabulary, and with labels that do not fit @once @full', async ({ open }) => {
  const page = await open();
  const failures = await page.evaluate(async () => {
    const model = await (await fetch('/models/languages/languages.onnx')).blob();
    const load = (from: string | File, handler: Record<string, unknown> = {}) =>
      window.failure(
        window.tabserve.load(from, { handler: 'text_classifier', backends: ['wasm'], config: { handler } }),
      );
    return {
      // As a file: by its URL, the tokenizer beside it is read.
      bare: await load(new File([model], 'languages.onnx')),
      vocabulary: await load('/models/languages/', { tokenizer: 'torchserve' }),
      labels: await load('/models/languages/', { labels: ['yes', 'no'] }),
      threshold: await load('/models/languages/', { threshold: 2 }),
    };
  });
  expect(failures.bare).toMatchObject({ code: 'model-config', message: expect.stringContaining('no tokenizer.json') });
  expect(failures.vocabulary).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('no source_vocab.json'),
  });
  expect(failures.labels).toMatchObject({ code: 'model-config', message: expect.stringContaining('30 classes') });
  expect(failures.threshold).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('handler.threshold'),
  });
});

test('a pattern of a tokenizer that takes endless time on a text: its worker is ended, the request fails, and the next one is answered @once', async ({
  open,
}) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const read = async (path: string): Promise<Blob> =>
      await (await fetch(`/test/models/text/word-piece/${path}`)).blob();
    const tokenizer = JSON.parse(await (await read('tokenizer.json')).text()) as { pre_tokenizer: object };
    const split = { type: 'Split', pattern: { Regex: '(a*a*)*b' }, behavior: 'Isolated', invert: false };
    tokenizer.pre_tokenizer = { type: 'Sequence', pretokenizers: [split, tokenizer.pre_tokenizer] };
    const paths = ['MAR-INF/MANIFEST.json', 'model-config.yaml', 'model.onnx'];
    const files = await Promise.all(paths.map(async (path) => new File([await read(path)], path)));
    const client = await window.tabserve.load([...files, new File([JSON.stringify(tokenizer)], 'tokenizer.json')], {
      handler: 'text_classifier',
      backends: ['wasm'],
      responseTimeout: 1,
    });
    const { code, message } = await window.failure(client.predict('a'.repeat(100)));
    const after = await client.predict('another text');
    await client.dispose();
    return { code, message, after: after.length };
  });
  expect(answer).toMatchObject({ code: 'worker-lost', after: 3 });
  expect(answer.message).toContain('it had no heartbeat for 1 s');
});
