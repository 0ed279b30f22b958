import { expect, test } from '@playwright/test';
import { loadParser } from '../../../../../src/tools/cli/migrate/syntax.ts';
import { transform } from '../../../../../src/tools/cli/migrate/transform.ts';

const parse = await loadParser();
const changed = (text: string, file = 'app.js'): string => transform(parse, file, text).text;
const notes = (text: string, file = 'app.js'): readonly string[] =>
  transform(parse, file, text).notes.map(({ line, message }) => `${line} ${message}`);

test.describe('changes the import of pipeline', () => {
  for (const [what, before, after] of [
    ['alone', `import { pipeline } from '@huggingface/transformers';`, `import { pipeline } from 'tabserve/pipeline';`],
    [
      'under the former name, with another name, in double quotes',
      `import { pipeline as createPipeline } from "@xenova/transformers"`,
      `import { pipeline as createPipeline } from "tabserve/pipeline"`,
    ],
    [
      'beside other names, which stay',
      `import { env, pipeline, TextStreamer } from '@huggingface/transformers';`,
      `import { pipeline } from 'tabserve/pipeline';\nimport { env, TextStreamer } from '@huggingface/transformers';`,
    ],
    [
      'beside the default export',
      `import all, { pipeline, env } from '@huggingface/transformers';`,
      `import { pipeline } from 'tabserve/pipeline';\nimport all, { env } from '@huggingface/transformers';`,
    ],
    [
      'between comments, which stay',
      `import {\n  // the one\n  pipeline, // here\n  env, /* there */\n} from '@huggingface/transformers'; // last`,
      `// the one\n// here\n/* there */\nimport { pipeline } from 'tabserve/pipeline';\nimport { env } from '@huggingface/transformers'; // last`,
    ],
    [
      'in a file of Windows',
      `import { pipeline, env } from '@huggingface/transformers';\r\nenv;\r\n`,
      `import { pipeline } from 'tabserve/pipeline';\r\nimport { env } from '@huggingface/transformers';\r\nenv;\r\n`,
    ],
    [
      'CommonJS',
      `const { pipeline } = require('@xenova/transformers');`,
      `const { pipeline } = require('tabserve/pipeline');`,
    ],
    [
      'CommonJS, beside other names',
      `const { pipeline: make, env } = require('@xenova/transformers');`,
      `const { pipeline: make } = require('tabserve/pipeline'), { env } = require('@xenova/transformers');`,
    ],
    [
      'a dynamic import',
      `async function run() { const { pipeline } = await import('@huggingface/transformers'); }`,
      `async function run() { const { pipeline } = await import('tabserve/pipeline'); }`,
    ],
    [
      'a member of a dynamic import',
      `const classify = await (await import('@huggingface/transformers')).pipeline('fill-mask', 'a/b');`,
      `const classify = await (await import('tabserve/pipeline')).pipeline('fill-mask', 'a/b');`,
    ],
    [
      'exported again',
      `export { pipeline as default } from '@huggingface/transformers';`,
      `export { pipeline as default } from 'tabserve/pipeline';`,
    ],
  ] as const)
    test(what, () => {
      // Offsets are those of UTF-16.
      expect(changed(`// 🤗 Ü\n${before}\nexport const x = 1;\n`)).toBe(`// 🤗 Ü\n${after}\nexport const x = 1;\n`);
    });

  test('in TSX, with generics, JSX and satisfies', () => {
    const before = `import { useState } from 'react';
import { pipeline, type FeatureExtractionPipeline } from '@huggingface/transformers';

const options = { device: 'webgpu' } satisfies object;
export function Search<T extends string>({ model }: { model: T }) {
  const [embed, setEmbed] = useState<FeatureExtractionPipeline | null>(null);
  return <button onClick={async () => setEmbed(await pipeline('feature-extraction', model, options) as never)}>{embed ? 'on' : 'off'}</button>;
}
`;
    const after = before.replace(
      `import { pipeline, type FeatureExtractionPipeline } from '@huggingface/transformers';`,
      `import { pipeline } from 'tabserve/pipeline';\nimport { type FeatureExtractionPipeline } from '@huggingface/transformers';`,
    );
    expect(changed(before, 'search.tsx')).toBe(after);
    expect(notes(before, 'search.tsx')).toEqual([
      '2 FeatureExtractionPipeline stays: use the type Pipeline of tabserve/pipeline with the task, such as Pipeline<"feature-extraction">',
      '7 the options are not written out: compare them with docs/from-transformers-js.md',
    ]);
  });

  test('JSX in a .js file, and a cast in TypeScript', () => {
    expect(changed(`import { pipeline } from '@huggingface/transformers';\nexport const a = <b />;\n`)).toContain(
      'tabserve',
    );
    const cast = `import { pipeline } from '@huggingface/transformers';\nexport const a = <string>pipeline.name;\n`;
    expect(changed(cast, 'app.mts')).toContain('tabserve');
  });
});

test('a worker with a singleton, as the examples of transformers.js have it', () => {
  const before = `import { pipeline, env, AutoTokenizer } from '@huggingface/transformers';

env.allowLocalModels = false;
env.backends.onnx.wasm.numThreads = 1;

class PipelineSingleton {
  static task = 'translation';
  static model = 'Xenova/nllb-200-distilled-600M';
  static instance = null;

  static async getInstance(progress_callback = null) {
    this.instance ??= pipeline(this.task, this.model, { progress_callback });
    return this.instance;
  }
}
`;
  expect(changed(before)).toContain(
    `import { pipeline } from 'tabserve/pipeline';\nimport { env, AutoTokenizer } from '@huggingface/transformers';\n`,
  );
  expect(notes(before)).toEqual([
    expect.stringMatching(/^1 env stays: /),
    expect.stringMatching(/^1 AutoTokenizer stays: .*worker/),
    expect.stringMatching(/^3 env\.allowLocalModels: /),
    expect.stringMatching(/^4 env\.backends: .*threads/),
    expect.stringMatching(/^12 the task is not written out/),
    expect.stringMatching(/^12 progress_callback: /),
  ]);
});

test('options that differ are told; those that do not are not', () => {
  const call = (options: string): readonly string[] =>
    notes(
      `import { pipeline as p } from '@huggingface/transformers';\nawait p('text-generation', 'a/b', ${options});\n`,
    );
  expect(call(`{ device: 'webgpu', dtype: 'q4f16', revision: 'main' }`)).toEqual([]);
  expect(call(`null`)).toEqual([]);
  expect(call(`{ device: 'cuda' }`)).toEqual(['2 device: expected auto, gpu, wasm, webgpu, webnn']);
  expect(call(`{ dtype: { encoder_model: 'fp32' } }`)).toEqual([expect.stringMatching(/^2 dtype: one precision/)]);
  expect(call(`{ 'dtype': \`auto\` }`)).toEqual([expect.stringMatching(/^2 dtype: expected fp32/)]);
  expect(call(`{ quantized: false, cache_dir: './models' }`)).toEqual([
    expect.stringMatching(/^2 quantized: /),
    expect.stringMatching(/^2 cache_dir: /),
  ]);
  expect(call(`{ ...shared, [key]: 1 }`)).toEqual([
    '2 options that are spread are not checked',
    '2 the option’s name is not written out',
  ]);
});

test('an import stays if a call of it would fail', () => {
  for (const call of [`pipeline('image-feature-extraction', 'a/b')`, `pipeline('sentiment-analysis')`]) {
    const before = `import { pipeline } from '@huggingface/transformers';\n\nawait ${call};\n`;
    expect(changed(before)).toBe(before);
    expect(notes(before)).toEqual(['1 the import stays because of line 3', expect.stringMatching(/^3 /)]);
  }
});

test('what it does not change is told', () => {
  for (const before of [
    `import * as transformers from '@huggingface/transformers';`,
    `import '@huggingface/transformers';`,
    `export * from '@huggingface/transformers';`,
    `const transformers = require('@xenova/transformers');`,
    `import('@huggingface/transformers').then(({ pipeline }) => pipeline('fill-mask', 'a/b'));`,
    `vi.mock('@huggingface/transformers');`,
    `import { pipeline } from 'https://cdn.jsdelivr.net/npm/@huggingface/transformers@4';`,
  ]) {
    expect(changed(before)).toBe(before);
    expect(notes(before), before).toEqual([expect.stringMatching(/^1 not changed: /)]);
  }
});

test("another library's pipeline is left alone", () => {
  const before = `import { pipeline } from 'node:stream/promises';\nimport { RawImage } from '@huggingface/transformers';\nawait pipeline(a, b);\n`;
  expect(changed(before)).toBe(before);
  expect(notes(before)).toEqual([expect.stringMatching(/^2 RawImage stays: .*Blob/)]);
});
