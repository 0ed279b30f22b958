import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Validator, type Schema } from '@cfworker/json-schema';
import { expect, test } from '@playwright/test';
import { load } from 'js-yaml';
import { ADVICE, configSchema, PAGES, tablesOf, withTables } from '../../../scripts/config-docs.mjs';
import { methodPages } from '../../../scripts/method-docs.mjs';
import { paramSchemas } from '../../../scripts/param-schemas.mjs';
import { taskLists } from '../../../scripts/task-lists.mjs';
import * as budget from '../../../src/page/workers/budget.ts';
import type { Manifest } from '../../../src/contract/archive.ts';
import type { HandlerClass } from '../../../src/contract/handler.ts';
import * as errors from '../../../src/contract/errors.ts';
import * as meanings from '../../../src/contract/error-meanings.ts';
import * as settings from '../../../src/contract/settings.ts';
import * as metrics from '../../../src/shared/metrics/built-in.ts';
import * as registry from '../../../src/worker/handlers/registry.ts';
import * as models from '../../../src/worker/models/config.ts';
import * as schema from '../../../src/shared/schema.ts';
import * as threads from '../../../src/shared/threads.ts';
import { parseTransforms } from '../../../src/worker/transforms/index.ts';
import { examples } from '../../docs/page.ts';
import * as transforms from '../../../src/worker/transforms/transforms-schema.ts';

const modules = {
  registry,
  schema,
  models,
  transforms,
  errors,
  meanings,
  settings,
  metrics,
  threads,
  budget,
};
const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const published = JSON.parse(text('docs/model-config.schema.json')) as Schema & { definitions: Record<string, Schema> };

test('the published schema and the tables of the pages are those of the code', async () => {
  const advice = 'npm run generate makes them anew';
  const { sources, described } = await paramSchemas();
  for (const [path, source] of Object.entries(sources)) expect(text(path), advice).toBe(source);
  expect(published, advice).toEqual(JSON.parse(JSON.stringify(await configSchema(modules, described))));
  const tables = await tablesOf(modules, described);
  for (const page of PAGES) expect(text(`docs/${page}`), advice).toBe(withTables(text(`docs/${page}`), tables));
});

test('the page of each method is that of its docblock and its types, and is in the index', () => {
  const pages = methodPages();
  const paths = readdirSync(new URL('docs/methods', root)).map((name) => `docs/methods/${name}`);
  expect(paths.toSorted()).toEqual(Object.keys(pages).toSorted());
  const index = text('docs/methods.md');
  for (const [path, page] of Object.entries(pages)) {
    expect(text(path), 'npm run generate makes it anew').toBe(page);
    expect(index).toContain(`](${path.replace('docs/', '')}): `);
  }
});

test('what is known of a handler before its class is loaded is what the class says', async () => {
  const advice = 'npm run generate makes it anew';
  const lists = await taskLists(async (path) => (await import(`../../../${path}`)) as Record<string, unknown>);
  for (const [path, list] of Object.entries(lists)) expect(text(path), advice).toBe(list);
});

test('a class of transformers that a handler names in full is that handler’s, though the list of classes has none', async () => {
  const lists = async (own: readonly string[]): Promise<string> => {
    const all = await taskLists(async (path) => {
      const module = (await import(`../../../${path}`)) as Record<string, unknown>;
      if (!path.endsWith('/depth-estimator.ts')) return module;
      class DepthEstimator extends (module['DepthEstimator'] as HandlerClass) {
        static override readonly huggingFace = { architectures: ['ForDepthEstimation', ...own] };
      }
      return { DepthEstimator };
    });
    return all['src/worker/tasks/architectures.ts']!;
  };
  // The ending alone is not enough: classes of other tasks may have it.
  expect(await lists(['ForKeypointDetection'])).toContain("task: 'keypoint detection', ending");
  expect(await lists(['SuperPointForKeypointDetection'])).not.toContain('SuperPoint');
});

test('a handler is called as its class is, in TorchServe’s case, and says what it takes', async () => {
  for (const name of registry.HANDLER_NAMES) {
    const Class = await registry.loadHandler(name);
    expect(Class.name.replace(/\B[A-Z]/g, '_$&').toLowerCase()).toBe(name);
    expect(Class.takes, name).toMatch(/^(image|text|image-or-text|audio|audio-or-text|tensors)$/);
  }
});

test('every error code has its advice, and there is none for a code that is gone', () => {
  expect(Object.keys(ADVICE).sort()).toEqual(Object.keys(errors.ERROR_CODES).sort());
});

test('every key is described', () => {
  const undescribed = (properties: Record<string, Schema>, path: string): string[] =>
    Object.entries(properties).flatMap(([key, one]) => [
      ...(one['description'] ? [] : [`${path}.${key}`]),
      ...undescribed((one.properties ?? {}) as Record<string, Schema>, `${path}.${key}`),
    ]);
  const sections = Object.entries(published.definitions).filter(([, { properties }]) => properties);
  expect(
    sections.flatMap(([name, { properties }]) =>
      undescribed(
        JSON.parse(JSON.stringify(properties), (key, value: Schema) =>
          value?.$ref ? published.definitions['imageProcessing'] : value,
        ) as Record<string, Schema>,
        name,
      ),
    ),
  ).toEqual([]);
});

/** The manifest and the config of each archive in the repository and on the page. */
const archives = new Map<string, { manifest: string; config: string }>();
for (const folder of ['public/models', 'test/models']) {
  for (const name of readdirSync(new URL(folder, root))) {
    const path = `${folder}/${name}/MAR-INF/MANIFEST.json`;
    if (!existsSync(new URL(path, root))) continue;
    const { configFile } = (JSON.parse(text(path)) as Manifest).model;
    if (configFile)
      archives.set(`${folder}/${name}`, { manifest: text(path), config: text(`${folder}/${name}/${configFile}`) });
  }
}
for (const [name, files] of examples)
  if (files['model-config.yaml'])
    archives.set(`the page, ${name}`, {
      manifest: files['MAR-INF/MANIFEST.json']!,
      config: files['model-config.yaml'],
    });

for (const [name, { manifest, config }] of archives) {
  test(`the published schema takes the config of ${name}`, () => {
    const { handler } = (JSON.parse(manifest) as Manifest).model;
    const values: unknown = load(config);
    expect(new Validator(published, '7').validate(values).errors).toEqual([]);
    const own = {
      ...published,
      properties: { ...published.properties, handler: { $ref: `#/definitions/${handler!}` } },
    };
    expect(new Validator(own, '7').validate(values).errors).toEqual([]);
  });
}

test('there are archives of both', () => {
  expect([...archives.keys()]).toEqual(
    expect.arrayContaining(['public/models/digits', 'test/models/tiny-archive', 'the page, yolox']),
  );
});

/**
 * What the order of steps allows is parseTransforms' alone: these are judged with the steps that they need around them.
 */
for (const [step, ...options] of [
  [
    'resize',
    256,
    [28, 28],
    { size: 256, maxSize: 300 },
    { size: 256, side: 'longer', interpolation: 'bicubic' },
    { size: 256, maxSize: 256, multipleOf: 16, rounding: 'transformers' },
    { size: 256, rounding: 'numpy' },
    { size: 256, multipleOf: 0 },
    { size: [2, 3], interpolation: 'bicubic' },
    0,
    [1],
    [1, 2, 3],
    { size: 3, interpolation: 'cubic' },
    { width: 3 },
    {},
    'big',
    1.5,
  ],
  [
    'centerCrop',
    224,
    [3, 4],
    { size: 3 },
    { size: 3, rounding: 'transformers' },
    { size: 3, rounding: 1 },
    -1,
    [0, 1],
    { size: '3' },
  ],
  [
    'pad',
    3,
    [3],
    [1, 2],
    [1, 2, 3, 4],
    { padding: 2, fill: [1, 2, 3] },
    { padding: 2, fill: 256 },
    [1, 2, 3],
    -1,
    { fill: 3 },
  ],
  [
    'letterbox',
    [3, 4],
    { size: [3, 4], position: 'top-left', fill: 0 },
    640,
    { size: [3, 4], position: 'left' },
    { size: [3, 4], color: 3 },
  ],
  ['grayscale', undefined, 1, 3, { channels: 3 }, 2, { channels: '3' }],
  ['colorOrder', 'RGB', 'BGR', 'rgb', 3, undefined],
  ['toTensor', undefined, 1, { scale: 0.5 }, 0, { scale: 0 }, { scale: 'x' }, { factor: 1 }],
  [
    'normalize',
    { mean: 0, std: 1 },
    { mean: [0], std: [1, 2, 3] },
    { mean: 0 },
    { mean: [1, 2], std: 1 },
    { mean: 'x', std: 1 },
    3,
  ],
  ['layout', 'NCHW', 'NHWC', 'HWC', { order: 'NHWC' }],
  ['blur', 3, undefined],
] as const) {
  test(`the published schema and parseTransforms agree on ${step}`, () => {
    for (const option of options) {
      const item = option === undefined ? step : { [step]: option };
      const steps =
        step === 'toTensor'
          ? [item]
          : step === 'normalize' || step === 'layout'
            ? ['toTensor', item]
            : [item, 'toTensor'];
      let parses = true;
      try {
        parseTransforms(steps);
      } catch {
        parses = false;
      }
      expect(new Validator(transforms.TRANSFORMS_SCHEMA).validate(steps).valid, JSON.stringify(item)).toBe(parses);
    }
  });
}
