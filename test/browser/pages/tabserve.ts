import * as tabserve from '../../../src/index.ts';
import type { Failure } from '../fixtures.ts';

/** The handlers of the tests' own, each in a worker module. */
export const workers = {
  failing: () => new Worker(new URL('../workers/failing.worker.ts', import.meta.url), { type: 'module' }),
  shouting: () => new Worker(new URL('../workers/shouting.worker.ts', import.meta.url), { type: 'module' }),
  losing: () => new Worker(new URL('../workers/losing.worker.ts', import.meta.url), { type: 'module' }),
  raw: () => new Worker(new URL('../workers/raw.worker.ts', import.meta.url), { type: 'module' }),
  lean: () => new Worker(new URL('../workers/lean.worker.ts', import.meta.url), { type: 'module' }),
  noJspi: () => new Worker(new URL('../workers/no-jspi.worker.ts', import.meta.url), { type: 'module' }),
  slow: () => new Worker(new URL('../workers/slow-to-load.worker.ts', import.meta.url), { type: 'module' }),
  silent: () => new Worker(new URL('../workers/silent.worker.ts', import.meta.url), { type: 'module' }),
  throwing: () => new Worker(new URL('../workers/throwing.worker.ts', import.meta.url), { type: 'module' }),
};

async function failure(work: Promise<unknown> | (() => unknown)): Promise<Failure> {
  let value: unknown;
  try {
    value = await (typeof work === 'function' ? work() : work);
  } catch (error) {
    const { name, code, stage, message, cause } = error as Failure;
    return { name, code, stage, message, cause: cause === undefined ? undefined : String(cause) };
  }
  throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
}

/** `await using`, which Playwright's own transpiler does not carry into a page. */
async function disposal(): Promise<{ inside: string; after: string }> {
  let kept: tabserve.Client | undefined;
  let inside = '';
  {
    await using client = await tabserve.load('/test/models/affine_fixed.onnx', { handler: 'base_handler', backends: ['wasm'] });
    kept = client as unknown as tabserve.Client;
    inside = client.backend!.name;
  }
  return { inside, after: (await failure(kept.describe())).code };
}

Object.assign(window, { tabserve, workers, failure, disposal });
