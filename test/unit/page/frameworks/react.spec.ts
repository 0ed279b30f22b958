import { expect, test } from '@playwright/test';
import { createElement, Suspense } from 'react';
import { renderToString } from 'react-dom/server';
import { isSame, isSameData, type Source } from '../../../../src/page/frameworks/shared-client.ts';
import { sharedClient, SharedClient } from '../../../../src/page/frameworks/shared-client.ts';
import { useModel, type UseModelOptions } from '../../../../src/page/frameworks/react.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

/**
 * What `useModel` does without a browser: on a server, and the client that components share.
 * test/browser/frameworks.spec.ts has the rest.
 */

const MODEL = 'http://127.0.0.1/model.onnx';
const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };

/** Workers of which a test ends the last one. */
function mortal(): { factory: () => Worker; die: () => void; deaths: { of: 'next' | 'none' } } {
  const deaths: { of: 'next' | 'none' } = { of: 'none' };
  let last: EchoWorker | undefined;
  const factory = (): Worker => {
    if (deaths.of === 'next') throw new Error('no worker');
    last = new EchoWorker();
    return last as unknown as Worker;
  };
  return { factory, die: () => last!.dispatchEvent(new Event('error')), deaths };
}

const source = (over: Partial<Source> = {}): Source => ({
  factory: mortal().factory,
  options: { model: MODEL, verdicts },
  ...over,
});

const statusOf = (client: SharedClient): string => client.getState().status;

test('which options are the same: data by what it holds, functions and files by identity', () => {
  const file = new File(['x'], 'a.onnx');
  const of = (options: object, factory?: () => Worker): Source => ({ factory, options: options as never });
  const one = { model: new URL(MODEL), config: { handler: { topK: 2 } }, backends: ['wasm'], cache: undefined };
  const same = { model: new URL(MODEL), config: { handler: { topK: 2 } }, backends: ['wasm'] };
  expect(isSame(of(one), of(same))).toBe(true);
  expect(isSame(of({ model: file }), of({ model: file }))).toBe(true);
  expect(isSame(of({ model: [file] }), of({ model: [file] }))).toBe(true);
  for (const other of [
    { ...one, model: new URL(`${MODEL}?v=2`) },
    { ...one, model: MODEL },
    { ...one, config: { handler: { topK: 3 } } },
    { ...one, config: {} },
    { ...one, backends: ['wasm', 'webgl'] },
    { ...one, model: file },
  ])
    expect(isSameData(of(one), of(other)), JSON.stringify(other)).toBe(false);
  expect(isSameData(of({ model: file }), of({ model: new File(['x'], 'a.onnx') }))).toBe(false);

  const [makeA, makeB] = [mortal().factory, mortal().factory];
  expect(isSame(of(one, makeA), of(same, makeA))).toBe(true);
  for (const [a, b] of [
    [of(one, makeA), of(same, makeB)],
    [of({ model: MODEL, verdicts }), of({ model: MODEL, verdicts: { ...verdicts } })],
  ] as const) {
    expect(isSame(a, b)).toBe(false);
    expect(isSameData(a, b)).toBe(true);
  }
  expect(isSameData(of(one, makeA), of(one))).toBe(false);
});

test('components with the same options get the same client', () => {
  const one = source();
  expect(sharedClient(one)).toBe(sharedClient({ factory: one.factory, options: { ...one.options } }));
  expect(sharedClient(one)).not.toBe(sharedClient(source()));
});

test('a worker that is lost is replaced; when none can be opened, the state is an error, and the next call tries again', async () => {
  const { factory, die, deaths } = mortal();
  const client = new SharedClient(source({ factory, options: { model: MODEL, verdicts, maxRetryTimeoutInSec: 0 } }));
  const unmount = client.subscribe(() => {});
  await client.open();
  expect(await client.predict(1)).toBe(1);
  die();
  expect(await client.predict(2)).toBe(2);
  expect(statusOf(client)).toBe('ready');

  deaths.of = 'next';
  die();
  await expect.poll(() => statusOf(client)).toBe('error');
  expect(client.getState().error).toMatchObject({ name: 'TabServeError' });
  await expect(client.predict(3)).rejects.toMatchObject({ name: 'TabServeError' });
  deaths.of = 'none';
  expect(await client.predict(4)).toBe(4);
  expect(statusOf(client)).toBe('ready');
  unmount();
});

test('unmounting and mounting in one task keeps the client; unmounting ends it, and mounting again makes another', async () => {
  let workers = 0;
  const factory = (): Worker => (workers++, new EchoWorker() as unknown as Worker);
  const client = new SharedClient(source({ factory }));
  let unmount = client.subscribe(() => {});
  await client.open();
  unmount();
  unmount = client.subscribe(() => {});
  await client.open();
  expect([statusOf(client), workers]).toEqual(['ready', 1]);

  unmount();
  await expect.poll(() => statusOf(client)).toBe('idle');
  await expect(client.predict(1)).rejects.toMatchObject({ code: 'disposed' });
  await expect(client.initialize()).rejects.toMatchObject({ code: 'disposed' });
  unmount = client.subscribe(() => {});
  expect(await client.predict(1)).toBe(1);
  expect(workers).toBe(2);
  unmount();
});

test('a component that is mounted again takes calls before its effects run: those of its children run first', async () => {
  const one = source();
  const client = sharedClient(one);
  client.subscribe(() => {})();
  await expect.poll(() => client.predict(1).catch((error: unknown) => error)).toMatchObject({ code: 'disposed' });
  const again = sharedClient({ ...one });
  expect(again).toBe(client);
  again.reopen();
  expect(await again.predict(2)).toBe(2);
  again.subscribe(() => {})();
});

test('a wrong option is an error of the state, of a TabServeError', async () => {
  const client = new SharedClient({ factory: undefined, options: { model: MODEL, modle: 1 } as never });
  const unmount = client.subscribe(() => {});
  await expect(client.open()).rejects.toMatchObject({ code: 'model-config' });
  expect(client.getState()).toMatchObject({ status: 'error', error: { code: 'model-config' } });
  await expect(client.initialize()).rejects.toMatchObject({ code: 'model-config' });
  unmount();
});

test('a wrong option of a call loads nothing: a load that fails would be an error that nobody handles', async () => {
  const { factory, deaths } = mortal();
  deaths.of = 'next';
  const client = new SharedClient(source({ factory }));
  await expect(client.predict(1, { timeout: 'soon' as never })).rejects.toMatchObject({ code: 'invalid-input' });
  expect(statusOf(client)).toBe('idle');
});

/** Renders a component on a server; what it shows. */
function render(options: UseModelOptions): string {
  return renderToString(
    createElement(
      Suspense,
      { fallback: 'fallback' },
      createElement(() => statusWith(options)),
    ),
  );
}

function statusWith(options: UseModelOptions): string {
  return useModel({ model: '/models/digits/', ...(options as object) }).status;
}

test('on a server it renders what the first render in the browser shows, and starts nothing', () => {
  expect(render({})).toContain('loading');
  expect(render({ loading: 'lazy' })).toContain('idle');
  expect(render({ loading: 'suspense' })).toContain('fallback');
  const wrong = createElement(() => statusWith({ loading: 'never' as never }));
  expect(() => renderToString(wrong)).toThrow('loading: expected one of "eager", "lazy", "suspense", got "never".');
});
