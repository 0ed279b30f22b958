/** The rows of `test/models/tasks`: none without its model, no model without a row, and each with the handler of its config. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { loadHandler } from '../../../src/worker/handlers/registry.ts';
import { fetchArchive } from '../../../src/worker/models/archive.ts';

interface Task {
  readonly handler: string;
  readonly rows: readonly { readonly repository: string; readonly handler?: string }[];
}

const TASKS = new URL('../../models/tasks/', import.meta.url);
const NAMES = readdirSync(TASKS);
const ROWS = NAMES.filter((name) => name.endsWith('.json')).flatMap((name) => {
  const { handler, rows } = JSON.parse(readFileSync(new URL(name, TASKS), 'utf8')) as Task;
  return rows.map((row) => ({ ...row, task: handler }));
});

/** Returns a repository's files. A model is empty: which handler it has does not depend on it. */
function filesOf(repository: string): Record<string, Blob> {
  const folder = fileURLToPath(new URL(repository, TASKS));
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.'));
  const read = (path: string): Blob => new Blob(path.includes('.onnx') ? [] : [readFileSync(join(folder, path))]);
  return Object.fromEntries(paths.map((path) => [path, read(path)]));
}

test('each repository has a row', () => {
  const repositories = NAMES.filter((name) => !name.includes('.') && !['make', 'tokenizers'].includes(name));
  expect([...new Set(ROWS.map(({ repository }) => repository))].sort()).toEqual(repositories.sort());
});

test('the handler of a row is the one that the repository names', async () => {
  const different = [];
  for (const { repository, task } of ROWS.filter(({ handler }) => handler === undefined)) {
    const { manifest } = await fetchArchive(filesOf(repository), { fetch, handlerClass: loadHandler });
    if (manifest.model.handler !== task) different.push([repository, manifest.model.handler, task]);
  }
  // Their URLs alone say that they rank texts, or make vectors.
  expect(different).toEqual([
    ['jina-embeddings-v2-small-en', 'fill_mask', 'text_feature_extractor'],
    ['qwen3-reranker', 'text_generator', 'text_reranker'],
    ['jina-reranker-v1-tiny-en', 'text_feature_extractor', 'text_reranker'],
    ['gte-multilingual-reranker-base', 'text_classifier', 'text_reranker'],
  ]);
});
