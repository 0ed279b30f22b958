/** Every class of transformers has the handler of its task, or none (`scripts/architectures/make.py`). */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { loadHandler } from '../../../../../src/worker/handlers/registry.ts';
import { fetchArchive } from '../../../../../src/worker/models/archive.ts';
import { isCompared } from '../../../../../src/worker/tasks/compared.ts';
import { knownArchitecture } from '../../../../../src/worker/tasks/architectures.ts';

interface Group {
  readonly task: string;
  readonly handler: string | null;
  readonly classes: readonly string[];
}

const { groups } = JSON.parse(
  readFileSync(new URL('../../../../../scripts/architectures/classes.json', import.meta.url), 'utf8'),
) as { readonly groups: readonly Group[] };

/**
 * Returns the handler that a repository with these files names, or that is the likely one of a class that is not
 * compared. No handler's class is loaded.
 */
async function handlerOf(files: Readonly<Record<string, object>>): Promise<string | undefined> {
  const fetch = (url: URL | string | Request): Promise<Response> => {
    const path = new URL(url instanceof Request ? url.url : url).pathname.replace('/m/', '');
    const file = { 'onnx/model.onnx': {}, ...files }[path];
    return Promise.resolve(new Response(JSON.stringify(file), { status: file === undefined ? 404 : 200 }));
  };
  const archive = await fetchArchive('https://example.org/m', {
    fetch: fetch as typeof globalThis.fetch,
    downloads: new Map(),
    found: new Set(),
  });
  return archive.likelyHandler ?? archive.manifest.model.handler;
}

const TEXTS = { 'tokenizer.json': {} };
const IMAGES = { 'preprocessor_config.json': { image_processor_type: 'ViTImageProcessor' } };

for (const { task, handler, classes } of groups)
  test(`${task}: ${handler ?? 'no handler'}`, async () => {
    for (const name of classes) {
      const config = { 'config.json': { architectures: [name] } };
      // Of a model without a head, the files say what it reads.
      const isEither = handler?.includes(' or ') ?? true;
      const files = isEither ? [TEXTS, IMAGES] : [{ ...TEXTS, ...IMAGES }];
      const found = await Promise.all(files.map((one) => handlerOf({ ...config, ...one })));
      // Of such a class that no test compares, the model's own inputs and outputs tell the nearest handler.
      const isNamed = handler !== null && (!isEither || isCompared(name));
      expect.soft(found, name).toEqual(isNamed ? handler.split(' or ') : [name, name]);
      if (isNamed) continue;
      const words = knownArchitecture(name) ? `names (${task}), and none of the built-in handlers runs it` : '"';
      const error: unknown = await loadHandler(name).catch((reason: unknown) => reason);
      expect.soft(error, name).toMatchObject({ code: 'unknown-handler', message: expect.stringContaining(words) });
    }
  });

test('the task of other classes is read from their names', async () => {
  for (const [name, words] of [
    ['AlbertForMultipleChoice', '(multiple choice)'],
    ['VivitForVideoClassification', '(video classification)'],
    ['OddForThings', '(things)'],
  ])
    await expect(loadHandler(name)).rejects.toThrow(`names ${words}, and none of the built-in handlers runs it`);
  await expect(loadHandler('OddModel')).rejects.toThrow('names, and none of the built-in handlers runs it');
});

test('modules.json makes vectors of any class of texts, but a cross-encoder’s', async () => {
  const sentences = {
    ...TEXTS,
    'modules.json': ['Transformer', 'Pooling'].map((kind) => ({
      type: `sentence_transformers.models.${kind}`,
      path: kind === 'Pooling' ? '1_Pooling' : '',
    })),
    '1_Pooling/config.json': { pooling_mode: 'lasttoken' },
  };
  const names = [
    'Qwen3ForCausalLM',
    'Gemma3TextModel',
    'BertForMaskedLM',
    'BertForSequenceClassification',
    'VitsModel',
  ];
  for (const name of names) {
    const config = { architectures: [name] };
    expect(await handlerOf({ ...sentences, 'config.json': config }), name).toBe('text_feature_extractor');
  }
  const reranker = { architectures: ['BertForSequenceClassification'], sentence_transformers: {}, num_labels: 1 };
  expect(await handlerOf({ ...sentences, 'config.json': reranker })).toBe('text_reranker');
});
