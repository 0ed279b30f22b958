// Every sample that a visitor copies compiles under `strict`: those of the gallery and of the docs, the examples, and
// the apps of `npm create tabserve`; those of Vue and Svelte are compiled by `npm run consumers`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import type { Demo, Run, Source } from '../../../demo/demo.ts';
import { detection } from '../../../demo/demos/detection.ts';
import { digits } from '../../../demo/demos/digits.ts';
import { language } from '../../../demo/demos/language.ts';
import { orientation } from '../../../demo/demos/orientation.ts';
import { segmentation } from '../../../demo/demos/segmentation.ts';
import { textInPhotos } from '../../../demo/demos/text-in-photos.ts';
import { upscaling } from '../../../demo/demos/upscaling.ts';
import { codeOf as codeOfAny } from '../../../demo/any/code.ts';
import { ABOUTS } from '../../../demo/any/abouts.ts';
import { HANDLERS } from '../../../demo/any/handlers.ts';
import { taskOf } from '../../../demo/any/tasks.ts';
import type { HandlerName } from '../../../src/worker/handlers/registry.ts';
import { literal } from '../../../demo/demos/code.ts';
import { codeOf } from '../../../demo/fetch/code.ts';
import { codeOf as codeOfPeople, KINDS } from '../../../demo/people/kinds.ts';
import { CODE } from '../../../demo/likeness/code.ts';
import { snippetOf } from '../../../demo/serving/models.ts';
import { codeOf as codeOfSpeech } from '../../../demo/speech/code.ts';
import { codeOf as codeOfVoices } from '../../../demo/voices/code.ts';
import { createApp } from '../../../src/tools/create/create-app.ts';
import { TEMPLATE_NAMES } from '../../../src/tools/create/templates.ts';
import { digitReasons, photoReasons } from '../../../demo/reasons/demos.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const DEMOS: Readonly<Record<string, Demo>> = {
  detection,
  digits,
  language,
  orientation,
  segmentation,
  textInPhotos,
  upscaling,
  photoReasons: photoReasons(),
  digitReasons: digitReasons(),
};

const PICTURES: readonly Source[] = [{ kind: 'sample', url: '/models/one/samples/one.jpg' }, { kind: 'file' }];
const SOURCES: Readonly<Record<string, readonly Source[]>> = {
  language: [{ kind: 'text', text: "It's" }],
  digits: [...PICTURES, { kind: 'canvas' }],
  detection: [...PICTURES, { kind: 'camera' }],
  segmentation: [...PICTURES, { kind: 'camera' }],
};

const SETTINGS: Readonly<Record<string, readonly Run['settings'][]>> = {
  segmentation: ['blur', 'color', 'scenery', 'mask'].map((backdrop) => ({ backdrop, color: '#123456' })),
  orientation: [{}, { turned: 'yes' }],
};

/** The samples of the gallery, by their names. */
function* gallery(): Generator<readonly [name: string, code: string]> {
  for (const [name, demo] of Object.entries(DEMOS))
    for (const source of SOURCES[name] ?? PICTURES)
      for (const [index, settings] of (SETTINGS[name] ?? [{}]).entries())
        for (const backends of [undefined, ['onnx/wasm', 'tfjs/wasm']] as const) {
          const run: Run = { archive: '/models/one/', backends, source, settings, params: {} };
          yield [`${name}-${source.kind}-${index}${backends ? '-on' : ''}`, demo.snippet(run)];
        }
  yield ['fetch', codeOf('digits' as never)];
  for (const demo of [language, digits])
    yield [
      `serving-${demo.id}`,
      snippetOf(demo, { batchSize: 2, maxBatchDelay: 5, maxWorkers: 2, jobQueueSize: 9, deadline: 50 } as never),
    ];
  yield ['likeness', CODE];
  const hub = "'https://huggingface.co/ORG/NAME'";
  for (const handler of [undefined, 'speech_to_text', 'speech_recognizer'])
    for (const isLive of [false, true])
      yield [
        `speech-${handler}${isLive ? '-live' : ''}`,
        codeOfSpeech(handler === undefined ? undefined : { model: hub, handler }, isLive),
      ];
  yield ['voices', codeOfVoices(hub)];
  for (const [name, kind] of Object.entries(KINDS)) yield [`people-${name}`, codeOfPeople(kind, ['onnx/wasm'])];
  const image = "document.querySelector('img')!";
  const repository = { repository: 'ORG/NAME' };
  yield ['any', codeOfAny(repository, undefined, image, {}, undefined)];
  yield ['any-image', codeOfAny('folder', 'image_classifier', image, {}, undefined)];
  const question = literal({ question: 'Where?', context: "In Ada's house." });
  yield ['any-question', codeOfAny(repository, 'question_answerer', question, { topK: 2 }, undefined)];
  yield ['any-labels', codeOfAny('folder', 'zero_shot_text_classifier', "'A text'", { labels: ['a', 'b'] }, undefined)];
  for (const name of Object.keys(HANDLERS) as HandlerName[]) {
    const { sample, params = {} } = taskOf(name);
    if (sample) yield [`any-${name}`, codeOfAny(repository, name, '', params, sample)];
  }
  const { url, config } = ABOUTS['cut-out'].own;
  yield ['cut-out', codeOfAny({ url: `/${url}`, config }, 'background_remover', image, {}, undefined)];
}

/** The blocks in TypeScript of docs/model-config.md, which continue one another: each is a module with what it needs. */
function* modelConfig(): Generator<readonly [name: string, code: string]> {
  const page = readFileSync(join(root, 'docs/model-config.md'), 'utf8');
  for (const [index, [, code]] of [...page.matchAll(/```ts\n([^]*?)```/g)].entries())
    yield [
      `model-config-${index}`,
      `${/^import /m.test(code!) ? '' : "import { cosineSimilarity, load, nearest, paintPicture } from 'tabserve';\ndeclare const photo: Blob, text: string, other: Blob, video: HTMLVideoElement, canvas: HTMLCanvasElement;\n"}${code}`,
    ];
}

test('every sample compiles under strict', () => {
  mkdirSync(join(root, 'test-results'), { recursive: true });
  const folder = mkdtempSync(join(root, 'test-results/samples-'));
  try {
    const samples = [...gallery(), ...modelConfig()];
    expect(samples.length).toBeGreaterThan(60);
    for (const [name, code] of samples) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {};\n`);
    const sources = { templates: join(root, 'examples/templates'), models: join(root, 'public/models') };
    for (const template of TEMPLATE_NAMES)
      for (const framework of ['vanilla', 'react'] as const)
        createApp(
          { folder: join(folder, 'apps', `${template}-${framework}`), template, framework, tabserve: '' },
          sources,
        );
    // As an app has it: `strict`, and nothing of this repository's stricter options. Our own sources are among the files.
    const strict = {
      noUncheckedIndexedAccess: false,
      exactOptionalPropertyTypes: false,
      noImplicitOverride: false,
      types: ['vite/client', '@webgpu/types'],
    };
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: strict,
      include: ['*.ts', 'apps/*/src', '../../examples/*/src'],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    let errors = '';
    try {
      execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
        encoding: 'utf8',
      });
    } catch (error) {
      errors = (error as { stdout: string }).stdout;
    }
    expect(errors).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
