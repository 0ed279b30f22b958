import { expect, test } from '@playwright/test';
import { usableThreads } from '../../../../../src/worker/engines/onnx/thread-script.ts';

const SCRIPT = () => new URL('https://cdn.example.org/ort-wasm-simd-threaded.mjs');

/** What a browser does that refuses nothing. */
const willing = { load: async (): Promise<object> => ({ default: () => {} }), startFromBlob: async () => {} };

test.beforeEach(() => void Object.assign(globalThis, { crossOriginIsolated: true }));
test.afterAll(() => void Reflect.deleteProperty(globalThis, 'crossOriginIsolated'));

/**
 * The number of threads with a server of another origin that answers in this way, the kind of URL for ONNX Runtime, and
 * the warnings.
 */
async function threadsWith(answer: () => Response, actions = willing, wanted = 4): Promise<object> {
  const warnings: string[] = [];
  const { threads, mjs } = await usableThreads(
    wanted,
    SCRIPT,
    { fetch: async () => answer(), warn: (message) => warnings.push(message) },
    actions,
  );
  return { threads, from: mjs?.slice(0, 5), warnings };
}

const sentAs = (type: string) => () => new Response('', { headers: { 'content-type': type } });

const oneThread = (why: string): object => ({
  threads: 1,
  from: undefined,
  warnings: [
    `ONNX Runtime computes with 1 thread instead of 4: the script of its threads, ${SCRIPT().href}, could not be loaded: ${why}.`,
  ],
});

test('a script of another origin that is sent as a script keeps its threads, from a Blob', async () => {
  for (const type of [
    'text/javascript',
    'text/javascript; charset=utf-8',
    'application/javascript',
    'application/x-javascript',
  ])
    expect(await threadsWith(sentAs(type))).toEqual({ threads: 4, from: 'blob:', warnings: [] });
});

test('one thread, with the URL, the answer and the remedy, if the script cannot be loaded', async () => {
  const remedy = 'The server must send it as text/javascript';
  for (const [answer, why] of [
    [sentAs('application/octet-stream'), `the server answered 200, as application/octet-stream. ${remedy}`],
    [() => new Response(null), `the server answered 200, without a content type. ${remedy}`],
    [
      () => new Response('', { status: 404, headers: { 'content-type': 'text/javascript' } }),
      'the server answered 404, as text/javascript',
    ],
    [() => fail(), 'Failed to fetch'],
  ] as const)
    expect(await threadsWith(answer)).toEqual(oneThread(why));
});

test('one thread, with the remedy, if a policy forbids what ONNX Runtime does with a Blob', async () => {
  const remedy =
    'A Content-Security-Policy must have blob: in script-src and in worker-src, since the script is of another origin';
  for (const actions of [
    { ...willing, load: async () => fail() },
    { ...willing, startFromBlob: async () => fail() },
  ])
    expect(await threadsWith(sentAs('text/javascript'), actions)).toEqual(oneThread(`Failed to fetch. ${remedy}`));
});

test('one thread if the script is another one', async () => {
  const actions = { ...willing, load: async () => ({ x: 1 }) };
  expect(await threadsWith(sentAs('text/javascript'), actions)).toEqual(
    oneThread('it is not the script of ONNX Runtime'),
  );
});

test('one thread, with the headers, on a page that is not isolated; no warning if one was wanted', async () => {
  Object.assign(globalThis, { crossOriginIsolated: false });
  expect(await threadsWith(fail)).toEqual({
    threads: 1,
    from: undefined,
    warnings: [
      'ONNX Runtime computes with 1 thread instead of 4: the page is not cross-origin isolated by the headers COOP and COEP.',
    ],
  });
  expect(await threadsWith(fail, willing, 1)).toEqual({ threads: 1, from: undefined, warnings: [] });
});

test('one thread needs no script', async () => {
  expect(await threadsWith(fail, willing, 1)).toEqual({ threads: 1, from: undefined, warnings: [] });
});

function fail(): never {
  throw new TypeError('Failed to fetch');
}
