import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import type { Plugin } from 'vite';
import { ENGINE_FILES } from '../../../../src/tools/cli/copy.ts';
import { FIRST, scriptOf, SHARED } from '../../../../src/tools/vite/worker-scripts.ts';
import { tabserve, type TabServePluginOptions } from '../../../../src/tools/vite/vite.ts';
import { BROWSER_CANDIDATES } from '../../../../src/contract/backends.ts';
import { allEngines } from '../../../../src/worker/engines/index.ts';

const src = fileURLToPath(new URL('../../../../src/', import.meta.url));

/** What the plugin makes of a module; undefined if it leaves it. */
function transformed(options: TabServePluginOptions, path: string, code: string): string | undefined {
  const { handler } = (tabserve(options) as Plugin).transform as unknown as {
    handler: (code: string, id: string) => { code: string } | undefined;
  };
  return handler(code, path)?.code;
}

test('what is copied is what the modules of the engines name', () => {
  const code = ['onnx-wasm', 'onnx/webgpu', 'onnx/webgpu-jspi', 'tfjs-wasm']
    .map((file) => readFileSync(`${src}worker/engines/${file}.ts`, 'utf8'))
    .join();
  const named = [...code.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, file]) => file);
  expect([...ENGINE_FILES].sort()).toEqual(named.sort());
});

test('the built-in worker gets the engines that are named', () => {
  const code = transformed(
    { engines: ['onnx/wasm', 'tfjs/webgl', 'onnx/wasm'] },
    `${src}worker/engines/index.js?worker_file`,
    '',
  );
  expect(code).toBe(
    "import { onnxWasm } from './onnx-wasm.js';\nimport { tfjsWebgl } from './tfjs-webgl.js';\n" +
      "export const allEngines = { 'onnx/wasm': onnxWasm, 'tfjs/webgl': tfjsWebgl };",
  );
  expect(Object.keys(allEngines).sort(), 'what it replaces').toEqual([...BROWSER_CANDIDATES].sort());
  expect(transformed({}, '/app/engines/index.js', '')).toBeUndefined();
});

test('every module that decides which script another one is in exists', () => {
  expect(FIRST.filter((name) => !existsSync(`${src}${name}.ts`))).toEqual([]);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
  expect(Object.keys(SHARED).filter((start) => !files.some((file) => `${file}/`.startsWith(start)))).toEqual([]);
});

test('a file of a folder of tasks is in the script of its folder, whatever it is called', () => {
  for (const name of ['text-thing', 'image-boxes', 'speech', 'index'])
    expect(scriptOf(`worker/tasks/segmentation/${name}.ts`)).toBe('segmentation');
  expect(scriptOf('worker/tasks/of-tomorrow/first.js')).toBe('of-tomorrow');
  expect(scriptOf('worker/outputs/boxes/nms.js')).toBe('detection');
  expect(scriptOf('worker/host/host.js')).toBeUndefined();
});

test('the built-in worker is made from its modules, if an option changes them', () => {
  const code = readFileSync(`${src}worker/default.worker.ts`, 'utf8');
  for (const options of [{ engines: ['onnx/wasm'] as const }, { assets: '/tabserve/' }])
    expect(transformed(options, `${src}worker/default.worker.js`, '')!.trim()).toBe(code.trim());
  // The package's own has every engine, in files that bundlers copy.
  expect(transformed({}, `${src}worker/default.worker.js`, '')).toBeUndefined();
});

test("with `assets`, no module refers to the package's own copies of the engines' files", () => {
  for (const file of ['onnx-wasm', 'onnx/webgpu', 'onnx/webgpu-jspi', 'tfjs-wasm']) {
    const code = readFileSync(`${src}worker/engines/${file}.ts`, 'utf8');
    const placed = transformed(
      { assets: 'https://cdn.example.org/tabserve' },
      `${src}worker/engines/${file}.js`,
      code,
    )!;
    expect(placed).toMatch(
      /new URL\("https:\/\/cdn\.example\.org\/tabserve\/(ort|tfjs)-[\w.-]+\.wasm", self\.location\.origin\)/,
    );
    expect(placed).not.toContain('import.meta.url');
  }
});

test("the app's own settings take precedence", () => {
  const config = (user: object): object =>
    ((tabserve() as Plugin).config as unknown as (user: object) => { worker: object }).call(undefined, user).worker;
  expect(config({})).toMatchObject({ format: 'es', rolldownOptions: {} });
  const whole = config({ worker: { format: 'iife' } });
  expect(whole).toMatchObject({ format: 'iife' });
  expect(whole).not.toHaveProperty('rolldownOptions');
});

test('a wrong option is refused', () => {
  const make = (options: object) => () => tabserve(options as TabServePluginOptions);
  expect(make({ engines: ['onnx/wasm', 'onnx/gpu'] })).toThrow(
    /expected a list of onnx\/webgpu, .* got \["onnx\/wasm"/,
  );
  expect(make({ engines: [] })).toThrow(/expected a list/);
  expect(make({ assets: 'tabserve/' })).toThrow(/expected an absolute path, such as '\/tabserve\/', or a URL/);
});
