import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import type { StartRequest, WorkerEvent } from '../../../../src/contract/wire.ts';
import type { Engine, EngineEnvironment } from '../../../../src/worker/engines/engine.ts';
import type { ManifestFound } from '../../../../src/worker/models/archive.ts';
import { EngineStarter, type EngineStarterOptions } from '../../../../src/worker/host/engine-starter.ts';

const archive: Archive = {
  url: 'https://example.org/m/',
  manifest: { model: { modelName: 'm' } },
  config: {},
  models: {},
  files: {},
  golden: [],
  integrity: {},
};
const requestOf = (candidate: StartRequest['candidate']): StartRequest =>
  ({ candidate, assets: undefined, remote: undefined, download: {}, compiled: undefined }) as StartRequest;
const STARTS = { onnx: requestOf('onnx/webgpu'), tfjs: requestOf('tfjs/webgpu') };

/** A starter of engines that do nothing, and what it has done. */
function world() {
  const started: string[] = [];
  const lost = new Map<string, (why: string) => void>();
  const events: WorkerEvent[] = [];
  const engineOf = (name: string) => async (environment: EngineEnvironment) => {
    started.push(name);
    lost.set(name, environment.onLost!);
    return { name } as unknown as Engine;
  };
  const starter = new EngineStarter({
    engines: { 'onnx/webgpu': engineOf('onnx/webgpu'), 'tfjs/webgpu': engineOf('tfjs/webgpu') },
    platform: { threads: () => 1 },
    downloads: { engine: (_: unknown, start: (environment: object) => unknown) => start({}) },
    emit: (event: WorkerEvent) => events.push(event),
  } as unknown as EngineStarterOptions);
  return { starter, started, lost, events };
}

/** A manifest of an archive with a model in one format, which notes what begins to be read. */
function manifestOf(format: 'onnx' | 'tfjs', begun: string[]): ManifestFound {
  return {
    manifest: archive.manifest,
    models: { [format]: 'm' },
    begin: (own) => void begun.push(`${format}: ${own}`),
  };
}

test('an archive whose format has changed since the last visit: the new one is started and read, and the loss of the old one tells nothing', async () => {
  const { starter, started, lost, events } = world();
  const begun: string[] = [];
  const [copy, certain] = [manifestOf('onnx', begun), manifestOf('tfjs', begun)];
  let answer!: (found: ManifestFound) => void;
  const server = new Promise<ManifestFound>((resolve) => (answer = resolve));
  const prepared = starter.prepare(STARTS, [Promise.resolve(copy), server], Promise.resolve(archive));
  await expect.poll(() => started).toEqual(['onnx/webgpu']);
  answer(certain);
  await prepared;
  expect(started).toEqual(['onnx/webgpu', 'tfjs/webgpu']);
  expect(begun).toEqual(['onnx: onnx', 'tfjs: tfjs']);
  lost.get('onnx/webgpu')!('the GPU is gone');
  expect(events).toEqual([]);
  lost.get('tfjs/webgpu')!('the GPU is gone');
  expect(events).toEqual([{ type: 'lost', why: 'the GPU is gone' }]);
});

test('the copy of an earlier visit starts nothing once the server has answered', async () => {
  const { starter, started } = world();
  const begun: string[] = [];
  const [copy, certain] = [manifestOf('onnx', begun), manifestOf('tfjs', begun)];
  await starter.prepare(STARTS, [Promise.resolve(copy), Promise.resolve(certain)], Promise.resolve(archive));
  expect(started).toEqual(['tfjs/webgpu']);
  expect(begun).toEqual(['tfjs: tfjs']);
});

test('at a first visit the engine is started once, and its model begins to be read once', async () => {
  const { starter, started } = world();
  const begun: string[] = [];
  const found = Promise.resolve(manifestOf('onnx', begun));
  await starter.prepare(STARTS, [found, found], Promise.resolve(archive));
  expect(started).toEqual(['onnx/webgpu']);
  expect(begun).toEqual(['onnx: onnx']);
});

test('an archive that cannot be read leaves nothing unhandled', async () => {
  const { starter, started } = world();
  const unhandled: unknown[] = [];
  const listen = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', listen);
  try {
    const found = Promise.resolve(manifestOf('onnx', []));
    const failed = Promise.reject(new Error('bad config'));
    failed.catch(() => {});
    await starter.prepare(STARTS, [found, found], failed);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(started).toEqual(['onnx/webgpu']);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', listen);
  }
});
