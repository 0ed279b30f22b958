import { expect, test } from '@playwright/test';
import { usableThreads } from '../../src/engines/onnx/thread-script.ts';

const SCRIPT = () => new URL('https://cdn.example.org/ort-wasm-simd-threaded.mjs');

/** The number of threads with a server of another origin that answers in this way, and the warnings. */
async function threadsWith(answer: () => Response, wanted = 4): Promise<{ threads: number; warnings: string[] }> {
  const warnings: string[] = [];
  const threads = await usableThreads(wanted, SCRIPT, {
    fetch: async () => answer(),
    warn: (message) => warnings.push(message),
  });
  return { threads, warnings };
}

const sentAs = (type: string) => () => new Response('', { headers: { 'content-type': type } });

test('a script of another origin that is sent as a script keeps its threads', async () => {
  for (const type of [
    'text/javascript',
    'text/javascript; charset=utf-8',
    'application/javascript',
    'application/x-javascript',
  ])
    // prettier-ignore
    expect(await threadsWith(sentAs(type))).toEqual({ threads: 4, warnings: [] });
});

test('one thread, with the URL, the answer and the remedy, if it cannot be loaded', async () => {
  const warning = (why: string): string =>
    `ONNX Runtime computes with 1 thread in place of 4: the script of its threads, ${SCRIPT().href}, could not be loaded: ${why}. The server must send it as text/javascript.`;
  for (const [answer, why] of [
    [sentAs('application/octet-stream'), 'the server answered 200, as application/octet-stream'],
    [() => new Response(null), 'the server answered 200, without a content type'],
    [() => new Response('', { status: 404, headers: { 'content-type': 'text/javascript' } }), 'the server answered 404, as text/javascript'], // prettier-ignore
    [() => fail(), 'Failed to fetch'],
  ] as const)
    expect(await threadsWith(answer)).toEqual({ threads: 1, warnings: [warning(why)] });
});

test('one thread needs no script', async () => {
  expect(await threadsWith(fail, 1)).toEqual({ threads: 1, warnings: [] });
});

function fail(): never {
  throw new TypeError('Failed to fetch');
}
