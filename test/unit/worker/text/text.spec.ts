import { openAsBlob, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { TensorInfo } from '../../../../src/contract/tensors.ts';
import { expandContractions } from '../../../../src/worker/text/contractions.ts';
import { ngramsOf, words } from '../../../../src/worker/text/torchserve.ts';
import {
  createTestContext,
  PredictionError,
  TextClassifier,
  TextHandler,
  type Classification,
  type TestContextOptions,
  type TextInput,
} from '../../../../src/worker.ts';
import { stubSession } from '../../support/stub-session.ts';

/**
 * By Hugging Face's tokenizers in Python, and TorchServe's functions: `test/models/text/make.py`. A mask that is not
 * there is all ones.
 */
interface Row {
  readonly ids: readonly number[];
  readonly mask?: readonly number[];
  readonly types: readonly number[];
}
type Input = string | readonly [string, string];
interface Kind {
  readonly alone: readonly (Row & { input: Input })[];
  readonly cut: readonly (Row & { input: Input; maxLength: number })[];
  readonly files: readonly {
    name: string;
    truncation: unknown;
    padding: unknown;
    inputs: readonly Input[];
    rows: readonly Row[];
  }[];
  readonly padded: readonly Row[];
}
interface TorchServe {
  readonly bigrams: readonly { text: string; ngrams: string[] }[];
  readonly trigrams: readonly { text: string; ngrams: string[] }[];
  readonly contractions: readonly { text: string; words: string[] }[];
}
const read = (path: string): string => readFileSync(new URL(`../../../models/text/${path}`, import.meta.url), 'utf8');
const goldens = JSON.parse(read('goldens.json')) as {
  readonly texts: readonly string[];
  readonly batch: readonly Input[];
  readonly tokenizers: Readonly<Record<string, Kind>>;
  readonly languages: { readonly padded: readonly Row[] };
  readonly torchserve: TorchServe;
};

const toInput = (input: Input): TextInput =>
  typeof input === 'string' ? input : { text: input[0], textPair: input[1] };
const int64 = (name: string, ...dims: (string | number)[]): TensorInfo => ({ name, dtype: 'int64', dims });
const BERT = [
  int64('input_ids', 'batch', 'length'),
  int64('attention_mask', 'batch', 'length'),
  int64('token_type_ids', 'batch', 'length'),
];
const BAG = [int64('text', 'tokens'), int64('offsets', 'batch')];
const LOGITS = [{ name: 'logits', dtype: 'float32', dims: ['batch', 3] }] as const;

/** A model that answers each row with the same logits. */
const stub = (inputs = BERT, logits: readonly number[] = [1, 3, 2], outputs: readonly TensorInfo[] = LOGITS) =>
  stubSession(inputs, outputs, (feeds) => {
    const rows = feeds[inputs.at(-1)!.name]!.dims[0]!;
    return {
      logits: {
        dtype: 'float32',
        dims: [rows, logits.length],
        data: Float32Array.from({ length: rows * logits.length }, (_, i) => logits[i % logits.length]!),
      },
    };
  });

/** What a model with these inputs is fed. */
async function feeds(
  texts: readonly unknown[],
  { session = stub(), ...options }: Omit<TestContextOptions, 'session'> & { session?: ReturnType<typeof stub> } = {},
): Promise<Record<string, number[][]>> {
  const handler = new TextHandler();
  await handler.initialize(createTestContext({ session, ...options }));
  const context = createTestContext({ session, ...options, batchSize: texts.length });
  const tensors = await handler.preprocess(texts as TextInput[], context);
  const [failure] = context.failures.values();
  if (failure) throw failure;
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { dims, data }]) => {
      const values = Array.from(data as BigInt64Array, Number);
      const length = dims[1] ?? values.length;
      return [
        name,
        Array.from({ length: dims.length === 1 ? 1 : dims[0]! }, (_, row) =>
          values.slice(row * length, (row + 1) * length),
        ),
      ];
    }),
  );
}

const filesOf = (kind: string) => ({ 'tokenizer.json': read(`${kind}/tokenizer.json`) });

/** The feeds that rows of the goldens make. */
const toFeeds = (rows: readonly Row[]) => ({
  input_ids: rows.map(({ ids }) => ids),
  attention_mask: rows.map(({ ids, mask }) => mask ?? ids.map(() => 1)),
  token_type_ids: rows.map(({ types }) => types),
});
const shown = (input: Input): string => JSON.stringify(input).slice(0, 60);

for (const [kind, golden] of Object.entries(goldens.tokenizers)) {
  test.describe(`${kind}: as Hugging Face's tokenizers`, () => {
    for (const row of golden.alone) {
      test(`alone: ${shown(row.input)}`, async () => {
        const made = feeds([toInput(row.input)], { files: filesOf(kind) });
        if (row.ids.length === 0) await expect(made).rejects.toMatchObject({ code: 'invalid-input' });
        else expect(await made).toEqual(toFeeds([row]));
      });
    }
    for (const row of golden.cut) {
      test(`cut to ${row.maxLength}: ${shown(row.input)}`, async () => {
        expect(
          await feeds([toInput(row.input)], { files: filesOf(kind), params: { maxLength: row.maxLength } }),
        ).toEqual(toFeeds([row]));
        expect(
          await feeds([toInput(row.input)], {
            files: filesOf(kind),
            config: { handler: { maxLength: row.maxLength } },
          }),
        ).toEqual(toFeeds([row]));
      });
    }
    for (const { name, truncation, padding, inputs, rows } of golden.files) {
      test(`truncation and padding of the file: ${name}`, async () => {
        const json = { ...(JSON.parse(read(`${kind}/tokenizer.json`)) as object), truncation, padding };
        expect(await feeds(inputs.map(toInput), { files: { 'tokenizer.json': JSON.stringify(json) } })).toEqual(
          toFeeds(rows),
        );
      });
    }
    test('a batch of rows of any length', async () => {
      const config = {
        padding_side: 'right',
        pad_token: golden === goldens.tokenizers['byte-level-bpe'] ? '<pad>' : null,
      };
      const json = {
        ...(JSON.parse(read(`${kind}/tokenizer.json`)) as object),
        ...(kind === 'unigram' && { padding: { pad_id: 0, pad_type_id: 1 } }),
      };
      const files = { 'tokenizer.json': JSON.stringify(json), 'tokenizer_config.json': JSON.stringify(config) };
      expect(await feeds(goldens.batch.map(toInput), { files })).toEqual(toFeeds(golden.padded));
    });
  });
}

test('the language classifier: as Hugging Face’s tokenizers', async () => {
  const tokenizer = readFileSync(
    new URL('../../../../public/models/languages/tokenizer.json', import.meta.url),
    'utf8',
  );
  expect(await feeds(goldens.texts, { files: { 'tokenizer.json': tokenizer } })).toEqual(
    toFeeds(goldens.languages.padded),
  );
});

test.describe('what the model takes', () => {
  const files = filesOf('word-piece');

  test('ids alone, by whatever name; int32 as int32', async () => {
    const session = stub([{ name: 'tokens', dtype: 'int32', dims: [null, null] }]);
    const handler = new TextHandler();
    await handler.initialize(createTestContext({ session, files }));
    const { tokens, ...others } = await handler.preprocess(['Hello, world!'], createTestContext({ session, files }));
    expect([tokens!.dtype, tokens!.data, others]).toEqual([
      'int32',
      Int32Array.from(goldens.tokenizers['word-piece']!.alone[0]!.ids),
      {},
    ]);
  });

  test('input_ids are found wherever they stand', async () => {
    const session = stub(BERT.toReversed());
    expect(await feeds(['Hello, world!'], { session, files })).toEqual(
      toFeeds([goldens.tokenizers['word-piece']!.alone[0]!]),
    );
  });

  test('a fixed length is filled up, or cut to', async () => {
    const session = () => stub([int64('input_ids', 1, 6), int64('attention_mask', 1, 6)]);
    const [cls, a, sep] = goldens.tokenizers['word-piece']!.alone[4]!.ids;
    expect(await feeds(['a'], { session: session(), files })).toEqual({
      input_ids: [[cls, a, sep, 0, 0, 0]],
      attention_mask: [[1, 1, 1, 0, 0, 0]],
    });
    const long = (await feeds(['a a a a a a a a a'], { session: session(), files }))['input_ids'];
    expect(long).toEqual([[cls, a, a, a, a, sep]]);
    // A fixed batch gets its rows in pieces.
    const model = session();
    const handler = new TextClassifier();
    await handler.initialize(createTestContext({ session: model, files }));
    expect(
      await handler.handle(['a', 'a a a', 'a'], createTestContext({ session: model, files, batchSize: 3 })),
    ).toHaveLength(3);
    expect(model.runs.map((fed) => fed['input_ids']!.dims)).toEqual([
      [1, 6],
      [1, 6],
      [1, 6],
    ]);
  });

  test('the limit of tokenizer_config.json, of the config, of the request', async () => {
    const limited = { ...files, 'tokenizer_config.json': '{"model_max_length": 5}' };
    const length = async (options: Parameters<typeof feeds>[1]): Promise<number> =>
      (await feeds(['a a a a a a a a a'], options))['input_ids']![0]!.length;
    expect(await length({ files: limited })).toBe(5);
    expect(await length({ files: limited, config: { handler: { maxLength: 7 } } })).toBe(7);
    expect(await length({ files: limited, config: { handler: { maxLength: 7 } }, params: { maxLength: 4 } })).toBe(4);
    expect(
      await length({
        files: { ...files, 'tokenizer_config.json': '{"model_max_length": 1000000000000000019884624838656}' },
      }),
    ).toBe(11);
  });
});

test.describe("TorchServe's pipeline", () => {
  const { bigrams, trigrams, contractions } = goldens.torchserve;
  for (const { text, ngrams } of bigrams) {
    test(`words, then their pairs: ${JSON.stringify(text)}`, () => expect(ngramsOf(words(text), 2)).toEqual(ngrams));
  }
  for (const { text, ngrams } of trigrams) {
    test(`up to three: ${JSON.stringify(text)}`, () => expect(ngramsOf(words(text), 3)).toEqual(ngrams));
  }
  test('every contraction of its table', () => {
    expect(contractions.length).toBeGreaterThan(110);
    for (const { text, words: expected } of contractions) expect(words(text), text).toEqual(expected);
  });
  test('the longest contraction wins, and is expanded whole', () => {
    expect(expandContractions("can't've 'cause ain't he'll've")).toBe('cannot have because is not he will have');
  });

  const config = { handler: { tokenizer: 'torchserve' } };
  const files = { 'source_vocab.json': '["<unk>", "will", "not", "will not", "play"]' };
  test('a batch: tokens in one list, and where each row begins; what the vocabulary lacks is <unk>', async () => {
    const session = stub(BAG);
    expect(await feeds(["won't", 'play Play!', "Won't <i>play</i>"], { session, files, config })).toEqual({
      text: [[1, 2, 3, 4, 4, 0, 1, 2, 4, 3, 0]],
      offsets: [[0, 3, 6]],
    });
  });
  test('a mapping is a vocabulary too; without <unk> the unknown is left out; padded where the model takes rows', async () => {
    const vocabulary = { 'source_vocab.json': '{"will": 5, "not": 7, "<pad>": 9}' };
    const session = stub(['ids', 'attention_mask'].map((name) => int64(name, 'batch', 'length')));
    expect(await feeds(["won't", 'not me'], { session, files: vocabulary, config })).toEqual({
      ids: [
        [5, 7],
        [7, 9],
      ],
      attention_mask: [
        [1, 1],
        [1, 0],
      ],
    });
  });
  test('ngrams: 1', async () => {
    expect(
      await feeds(["won't"], {
        session: stub(BAG),
        files,
        config: { handler: { tokenizer: 'torchserve', ngrams: 1 } },
      }),
    ).toEqual({ text: [[1, 2]], offsets: [[0]] });
  });
});

test.describe('TextClassifier', () => {
  const files = filesOf('word-piece');
  const labels = ['red', 'green', 'blue'];
  const labelsOf = (row: unknown): string[] => (row as Classification).map(({ label }) => label);
  async function classify(
    options: TestContextOptions & { texts?: readonly unknown[] } = {},
    logits?: readonly number[],
  ) {
    const session = stub(BERT, logits);
    const handler = new TextClassifier();
    const { texts = ['a'], ...rest } = options;
    await handler.initialize(createTestContext({ session, files, ...rest }));
    return await handler.handle(
      texts as TextInput[],
      createTestContext({ session, files, ...rest, batchSize: texts.length }),
    );
  }

  test("TorchServe's form: in the order of the classes, as TorchServe's text classifier answers", async () => {
    const [record] = await classify({ config: { handler: { labels, result: 'torchserve' } } });
    expect(Object.keys(record as object)).toEqual(labels);
    const twins = { labels: ['red', 'red', 'blue'], result: 'torchserve', topK: 2 };
    expect(Object.keys((await classify({ config: { handler: twins } }))[0] as object)).toEqual(['red', 'blue']);
  });
  test('all classes in falling order; as many as asked for', async () => {
    const [all] = await classify({ config: { handler: { labels } } });
    expect(labelsOf(all)).toEqual(['green', 'blue', 'red']);
    const e = Math.exp;
    expect((all as Classification).map(({ score }) => score)).toEqual(
      [e(3), e(2), e(1)].map((value) => expect.closeTo(value / (e(1) + e(2) + e(3)), 12)),
    );
    expect(labelsOf((await classify({ config: { handler: { labels, topK: 2 } } }))[0])).toEqual(['green', 'blue']);
    expect(labelsOf((await classify({ config: { handler: { labels, topK: 2 } }, params: { topK: 1 } }))[0])).toEqual([
      'green',
    ]);
    const handler = new TextClassifier();
    handler.setMaxResultClasses(1);
    const session = stub();
    await handler.initialize(createTestContext({ session, files }));
    expect(labelsOf((await handler.handle(['a'], createTestContext({ session, files })))[0])).toEqual(['1']);
    expect(() => handler.setMaxResultClasses(0)).toThrow('positive integer');
  });

  test('several labels: each for itself, from the threshold on; none is an answer', async () => {
    const options = { config: { handler: { labels, multiLabel: true } } };
    const sigmoid = (x: number) => expect.closeTo(1 / (1 + Math.exp(-x)), 12);
    const [red, green, blue] = [
      { label: 'red', score: sigmoid(-1) },
      { label: 'green', score: sigmoid(2) },
      { label: 'blue', score: sigmoid(0.125) },
    ];
    expect(await classify(options, [-1, 2, 0.125])).toEqual([[green, blue]]);
    expect(await classify({ ...options, params: { threshold: 0.2 } }, [-1, 2, 0.125])).toEqual([[green, blue, red]]);
    expect(await classify({ ...options, params: { threshold: 0.2, topK: 1 } }, [-1, 2, 0.125])).toEqual([[green]]);
    expect(await classify(options, [-1, -2, -3])).toEqual([[]]);
    expect(await classify({ ...options, params: { result: 'torchserve' } }, [-1, 2, 0.125])).toEqual([
      { green: sigmoid(2), blue: sigmoid(0.125) },
    ]);
    expect(await classify({ ...options, params: { result: 'torchserve' } }, [-1, -2, -3])).toEqual([{}]);
    expect(
      await classify({ config: { handler: { labels, multiLabel: true, output: 'probabilities' } } }, [0.25, 0.75, 0.5]),
    ).toEqual([
      [
        { label: 'green', score: 0.75 },
        { label: 'blue', score: 0.5 },
      ],
    ]);
  });

  test('no room for the tokens that are added fails the row', async () => {
    expect(await classify({ params: { maxLength: 1 } })).toEqual([
      expect.objectContaining({ code: 'invalid-input', stage: 'preprocess' }),
    ]);
  });

  test('a threshold in a request, of a single label, fails it', async () => {
    const session = stub();
    const handler = new TextClassifier();
    await handler.initialize(createTestContext({ session, files }));
    const [row] = await handler.handle(['a'], createTestContext({ session, files, params: { threshold: 0.5 } }));
    expect(row).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('multiLabel') });
  });

  test('logits that are said to be probabilities fail the row with a hint', async () => {
    const failure = expect.objectContaining({
      code: 'inference-failed',
      stage: 'postprocess',
      message: expect.stringMatching('-2 to 3.*logits'),
    });
    for (const multiLabel of [false, true])
      expect(await classify({ config: { handler: { output: 'probabilities', multiLabel } } }, [3, -2, 0])).toEqual([
        failure,
      ]);
  });

  test('a row of numbers that are not finite fails', async () => {
    expect(await classify({}, [NaN, 1, 2])).toEqual([
      expect.objectContaining({ code: 'inference-failed', stage: 'postprocess' }),
    ]);
  });

  test('inputs: text, Blob, pair, TorchServe’s row; a bad row fails alone', async () => {
    const rows = await classify({
      texts: [
        'a',
        new Blob(['a']),
        { text: 'a', textPair: 'b' },
        { data: 'a' },
        { body: new Blob(['a']) },
        7,
        null,
        ['a', 'b'],
        { text: 1 },
        {},
      ],
    });
    expect(rows.map((row) => (row instanceof PredictionError ? `${row.code} ${row.stage}` : 'answer'))).toEqual([
      ...Array.from({ length: 5 }, () => 'answer'),
      ...Array.from({ length: 5 }, () => 'invalid-input preprocess'),
    ]);
    expect(String(rows[7])).toContain('a list');
  });

  test('a file that is not UTF-8 is refused: nothing says which charset it has', async () => {
    const { readText } = await import('../../../../src/worker/text/read-text.ts');
    // "метро" in windows-1251.
    const file = new Blob([Uint8Array.of(0xec, 0xe5, 0xf2, 0xf0, 0xee)], { type: 'text/plain' });
    await expect(readText(file)).rejects.toMatchObject({
      code: 'invalid-input',
      message: 'The text file is not UTF-8. Save it as UTF-8, or decode it and send a string.',
    });
    expect(await readText(new Blob(['\uFEFFметро']))).toEqual({ text: 'метро', textPair: undefined });
  });

  test('a file that was changed after it was chosen fails its row, and says so', async () => {
    const path = test.info().outputPath('text.txt');
    writeFileSync(path, 'a');
    const file = await openAsBlob(path);
    writeFileSync(path, 'a longer text');
    const rows = await classify({ texts: [file, 'a'] });
    expect(rows[0]).toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('changed, moved or removed'),
    });
    expect(rows[1]).not.toBeInstanceOf(PredictionError);
  });

  test('half of a surrogate pair is U+FFFD', async () => {
    const byteLevel = { files: filesOf('byte-level-bpe') };
    expect(await feeds(['a\ud83d b\ude00\ud83d\ude00'], byteLevel)).toEqual(
      await feeds(['a\ufffd b\ufffd\u{1f600}'], byteLevel),
    );
  });

  for (const [kind, text] of [
    ['words', 'All human beings are born free and equal. '.repeat(2400)],
    ['one word', 'x'.repeat(100_000)],
    ['emoji', '😀'.repeat(25_000)],
    ['spaces', ' '.repeat(100_000)],
    ['accents', `e${'\u0301'.repeat(256)}`.repeat(380)],
  ] as const) {
    test(`100 kB of ${kind} are cut in time`, async () => {
      for (const name of Object.keys(goldens.tokenizers)) {
        // Of this process, so that a busy machine does not count.
        const started = process.cpuUsage().user;
        const { input_ids } = await feeds([text], { files: filesOf(name), config: { handler: { maxLength: 512 } } });
        expect(input_ids![0]!.length).toBeLessThanOrEqual(512);
        expect((process.cpuUsage().user - started) / 1000, name).toBeLessThan(5_000);
      }
    });
  }
});

test('a pair under other names is refused', async () => {
  const context = (): ReturnType<typeof createTestContext> =>
    createTestContext({ session: stub(), files: { 'tokenizer.json': read('word-piece/tokenizer.json') } });
  const handler = new TextHandler();
  await handler.initialize(context());
  for (const key of ['text_pair', 'textpair', 'question']) {
    const [row] = await handler.handle([{ text: 'a', [key]: 'b' } as never], context());
    expect(row).toMatchObject({ code: 'invalid-input', message: expect.stringContaining(`unknown key "${key}"`) });
  }
});

test.describe('initialize refuses', () => {
  const files = filesOf('word-piece');
  for (const [what, options, words_] of [
    ['no tokenizer.json', { files: {} }, 'tokenizer.json'],
    ['no vocabulary', { files, config: { handler: { tokenizer: 'torchserve' } } }, 'source_vocab.json'],
    [
      'a tokenizer that does not exist',
      { files, config: { handler: { tokenizer: 'spacy' } } },
      '"huggingface" or "torchserve"',
    ],
    [
      'a threshold of a single label',
      { files, config: { handler: { threshold: 0.5 } } },
      'threshold: it is only for multiLabel: true',
    ],
    [
      'n-grams of a Hugging Face tokenizer',
      { files, config: { handler: { ngrams: 2 } } },
      'handler.ngrams: it is only for tokenizer: torchserve',
    ],
    ['a threshold out of range', { files, config: { handler: { threshold: 1.5 } } }, 'handler.threshold'],
    [
      'fewer labels than classes',
      { files, config: { handler: { labels: ['a', 'b'] } } },
      'there are 2 labels, but the model has 3 classes',
    ],
    [
      'more labels than classes',
      { files, config: { handler: { labels: ['a', 'b', 'c', 'd'] } } },
      'there are 4 labels, but the model has 3 classes',
    ],
    ['another input name', { files, config: { handler: { inputName: 'ids' } } }, 'handler.inputName'],
    ['no room for a token', { files, config: { handler: { maxLength: 2 } } }, 'handler.maxLength'],
    [
      'more tokens than the model takes',
      { files, session: stub([int64('input_ids', 'batch', 8)]), config: { handler: { maxLength: 9 } } },
      'the model takes 8 tokens',
    ],
    [
      'a model of images',
      { files, session: stub([{ name: 'image', dtype: 'float32', dims: [1, 3, 4, 4] }]) },
      '"image" float32 [1, 3, 4, 4]',
    ],
    [
      'an input that no tokenizer makes',
      { files, session: stub([...BERT, int64('cache_position', 'batch', 'length')]) },
      'nothing fills this model\'s "cache_position"',
    ],
    [
      'an output that is none of classes',
      { files, session: stub(BERT, [1], [{ name: 'logits', dtype: 'float32', dims: ['batch', 'length', 8] }]) },
      '[batch, length, 8]',
    ],
  ] as const) {
    test(what, async () => {
      const failure = new TextClassifier().initialize(
        createTestContext({ session: stub(), ...(options as TestContextOptions) }),
      );
      await expect(failure).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining(words_) });
    });
  }

  for (const [what, options] of [
    ['a file that is no JSON', { files: { 'tokenizer.json': '<html>' } }],
    ['JSON that is no tokenizer', { files: { 'tokenizer.json': '{"model": {"type": "Quantum"}}' } }],
    [
      'a vocabulary without ids',
      { files: { 'source_vocab.json': '{"a": "b"}' }, config: { handler: { tokenizer: 'torchserve' } } },
    ],
    [
      'an empty vocabulary',
      { files: { 'source_vocab.json': 'null' }, config: { handler: { tokenizer: 'torchserve' } } },
    ],
  ] as const) {
    test(what, async () => {
      await expect(
        new TextHandler().initialize(createTestContext({ session: stub(), ...options })),
      ).rejects.toMatchObject({
        code: 'model-format',
      });
    });
  }
});
