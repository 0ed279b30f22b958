import { expect, test } from '@playwright/test';
import { CompiledFiles } from '../../../../src/page/selection/opening-workers.ts';
import type { CompiledFile } from '../../../../src/contract/wire.ts';
import { compileWasm } from '../../../../src/worker/engines/wasm-module.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { FileCache } from '../../../../src/worker/models/cache/file-cache.ts';
import { CacheEntries } from '../../../../src/shared/cache/cache-entries.ts';
import { browserClock } from '../../../../src/shared/clock.ts';
import { Host } from '../../../../src/worker/host/host.ts';
import { memoryStore } from '../../../memory-store.ts';
import { stubSession } from '../../support/stub-session.ts';

/** The smallest file of WebAssembly: its magic number and version. */
const WASM = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
const URL_ = new URL('http://localhost/e.wasm');
const FILE = { name: 'e.wasm', bytes: WASM.length, version: '1' };

async function compile(compiled?: CompiledFile) {
  const requests: string[] = [];
  const phases: string[] = [];
  const made: CompiledFile[] = [];
  const module = await compileWasm(URL_, FILE, {
    compiled,
    onCompiled: (file) => made.push(file),
    onProgress: ({ phase, loaded, total }) => phases.push(`${phase} ${loaded}/${total}`),
    fetch: async (url) => {
      requests.push(String(url));
      return new Response(WASM, { headers: { 'content-type': 'application/wasm' } });
    },
  });
  return { module, requests, phases, made };
}

test('an engine is compiled once: what a worker has compiled, the next one takes', async () => {
  const first = await compile();
  expect(first.requests).toEqual([URL_.href]);
  expect(first.made).toEqual([{ url: URL_.href, version: '1', module: first.module }]);
  const second = await compile(first.made[0]);
  expect(second.module).toBe(first.module);
  expect(second.requests).toEqual([]);
  expect(second.made).toEqual([]);
  expect(second.phases).toEqual(['compile 8/8']);
});

test('a compiled file of another version, build or origin is not taken', async () => {
  const { made } = await compile();
  for (const other of [{ version: '2' }, { url: 'http://localhost/e.asyncify.wasm' }, { url: 'http://other/e.wasm' }]) {
    const again = await compile({ ...made[0]!, ...other });
    expect(again.module).not.toBe(made[0]!.module);
    expect(again.requests).toEqual([URL_.href]);
  }
});

test('an engine that is damaged in the cache is downloaded once more, and not again at each visit', async () => {
  const store = memoryStore();
  let requests = 0;
  const visit = async (): Promise<void> => {
    const cache = new FileCache({
      store,
      visit: 1,
      clock: browserClock,
      locks: undefined,
      estimate: async () => ({}),
      warn: () => {},
    });
    await compileWasm(URL_, FILE, {
      cached: (file, download, onBytes) =>
        cache.get(file, async (_, report) => ({ blob: await download(report) }), { onBytes }),
      fetch: async () => {
        requests += 1;
        return new Response(WASM, { headers: { 'content-type': 'application/wasm' } });
      },
    });
    await cache.stored();
  };
  await visit();
  const [entry] = await new CacheEntries(store).list();
  await store.write(entry!.content!, new Blob([new Uint8Array(WASM.length)]));
  for (const expected of [2, 2]) {
    await visit();
    expect(requests).toBe(expected);
  }
});

test('the clients of a page share their compiled engines, one for each candidate', async () => {
  const compiled = (await compile()).made[0]!;
  const [one, two] = [new CompiledFiles(), new CompiledFiles()];
  one.add('onnx/wasm', compiled);
  expect(two.find('onnx/wasm')).toBe(compiled);
  expect(two.find('onnx/webgpu')).toBeUndefined();
});

test('what was compiled by a worker that ended before it had stored the file is given to no other client', async () => {
  const [first, second] = [(await compile()).made[0]!, (await compile()).made[0]!];
  const [one, two] = [new CompiledFiles(), new CompiledFiles()];
  one.add('onnx/webgl', first);
  one.withdraw('onnx/webgl');
  expect(two.find('onnx/webgl')).toBeUndefined();
  expect(one.find('onnx/webgl'), 'its own client goes on with it').toBe(first);
  two.add('onnx/webgl', second);
  one.withdraw('onnx/webgl');
  expect(new CompiledFiles().find('onnx/webgl'), "another client's").toBe(second);
});

test('a browser that does not clone compiled code: the model opens all the same', async () => {
  const compiled = (await compile()).made[0]!;
  const shape = { name: 'x', dtype: 'float32', dims: [1, 3] } as const;
  const refused: string[] = [];
  const host = new Host({
    engines: {
      'onnx/wasm': async ({ onCompiled }) => {
        onCompiled?.(compiled);
        return {
          version: '1',
          threads: 1,
          memory: () => 0,
          open: async () => stubSession([shape], [shape], () => ({})),
        };
      },
    },
    handlerClass: async () => BaseHandler,
    emit: ({ type }) => {
      if (type !== 'compiled') return;
      refused.push(type);
      throw new DOMException('It could not be cloned.', 'DataCloneError');
    },
    sendChunk: () => {},
  });
  const archive = {
    url: 'http://localhost/m.onnx',
    manifest: { model: { modelName: 'm' } },
    models: { onnx: 'm.onnx' },
    files: { 'm.onnx': new Blob(['m']) },
    config: {},
    golden: [],
    integrity: {},
  };
  const opened = await host.open({
    candidate: 'onnx/wasm',
    archive,
    handler: undefined,
    isSpared: true,
    assets: undefined,
    download: {},
  });
  expect(refused).toEqual(['compiled']);
  expect(opened).toMatchObject({ ok: true, value: { threads: 1 } });
});
