// TorchServe's token authorization: `TokenAuthorization.java` and `TokenAuthorizationHandler.java` of pytorch/serve
// 62c4d6a.
import { existsSync, promises } from 'node:fs';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { Tokens } from '../../../../../src/server/node/http/tokens.ts';

const MINUTE = 60_000;

async function world(): Promise<{
  ask: (path: string, key?: string, scheme?: string, method?: string) => Promise<readonly [number, unknown]>;
  keys: () => Promise<Record<string, { readonly key: string; readonly 'expiration time'?: string }>>;
  clock: { now: number };
  file: string;
}> {
  const file = join(await mkdtemp(join(tmpdir(), 'tokens-')), 'key_file.json');
  const clock = { now: Date.parse('2026-11-28T06:00:00Z') };
  const tokens = await Tokens.create(file, { lifetime: 60 * MINUTE, now: () => clock.now });
  return {
    clock,
    file,
    keys: async () => JSON.parse(await readFile(file, 'utf8')) as never,
    async ask(path, key, scheme = 'Bearer', method = 'POST') {
      const headers: Record<string, string> = key === undefined ? {} : { Authorization: `${scheme} ${key}` };
      const request = new Request(`http://server${path}`, { method, headers });
      const response = await tokens.answer(request, async () => new Response('"let in"'));
      return [response.status, await new Response(response.body).json()];
    },
  };
}

const REFUSED = [
  400,
  {
    code: 400,
    type: 'InvalidKeyException',
    message: 'Token Authorization failed. Token either incorrect, expired, or not provided correctly',
  },
];
const LET_IN = [200, 'let in'];

test('each kind of request needs its own key; health and metrics need none', async () => {
  const { ask, keys } = await world();
  const { management, inference, API } = await keys();
  const paths = {
    inference: ['/predictions/m', '/explanations/m', '/v1/models/m:predict', '/v2/models/m/infer', '/models/m/invoke'],
    management: ['/models', '/models/m', '/models/m/1.0/set-default', '/v2/repository/models/m/load'],
  };
  for (const path of paths.inference) {
    expect(await ask(path, inference!.key), path).toEqual(LET_IN);
    for (const other of [management!.key, API!.key, '', undefined])
      expect(await ask(path, other), path).toEqual(REFUSED);
  }
  for (const path of paths.management) {
    expect(await ask(path, management!.key), path).toEqual(LET_IN);
    expect(await ask(path, inference!.key), path).toEqual(REFUSED);
  }
  // OpenAI's clients look for 401 and a code.
  for (const path of ['/v1/chat/completions', '/v1/models', '/v1/models/m'])
    expect(await ask(path, 'sk-wrong'), path).toEqual([
      401,
      { error: expect.objectContaining({ type: 'invalid_request_error', code: 'invalid_api_key' }) as unknown },
    ]);
  for (const path of ['/ping', '/metrics', '/v2/health/live']) expect(await ask(path), path).toEqual(LET_IN);
  expect(await ask('/predictions/m', inference!.key, 'Basic')).toEqual(REFUSED);
});

test('a key expires, and the API key makes a new one; the file is this user’s alone', async () => {
  const { ask, keys, clock, file } = await world();
  const before = await keys();
  expect(before['inference']!['expiration time']).toBe('2026-11-28T07:00:00.000Z');
  expect(Object.keys(before['API']!)).toEqual(['key']);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  clock.now += 61 * MINUTE;
  expect(await ask('/predictions/m', before['inference']!.key)).toEqual(REFUSED);
  expect(await ask('/token?type=inference', before['inference']!.key)).toEqual(REFUSED);
  const [status, made] = await ask('/token?type=inference', before['API']!.key);
  const after = await keys();
  expect([status, made]).toEqual([200, after['inference']]);
  expect(after['inference']).toMatchObject({ 'expiration time': '2026-11-28T08:01:00.000Z' });
  expect([after['management'], after['API']]).toEqual([before['management'], before['API']]);
  expect(await ask('/predictions/m', after['inference']!.key)).toEqual(LET_IN);
  expect((await ask('/token?type=all', before['API']!.key))[0]).toBe(400);
});

// RFC 3986, 6.2.2.2: what is percent-encoded without need means the same.
test('a key of inference opens no management by another spelling of its path, or another method', async () => {
  const { ask, keys } = await world();
  const { inference, management } = await keys();
  for (const [method, path] of [
    ['POST', '/%6Dodels?url=m.mar'],
    ['DELETE', '/model%73/m'],
    ['DELETE', '/workflow%73/m'],
    ['POST', '/v2/%72epository/models/m/unload'],
    ['POST', '/%762/repository/models/m/load'],
    ['DELETE', '/models/invoke'],
    ['DELETE', '/models/m/invoke'],
    ['PUT', '/models/m/invoke'],
    ['POST', '/models/m/1.0/invoke'],
  ] as const) {
    expect(await ask(path, inference!.key, 'Bearer', method), `${method} ${path}`).toEqual(REFUSED);
    expect(await ask(path, management!.key, 'Bearer', method), `${method} ${path}`).toEqual(LET_IN);
  }
  expect(await ask('/models/m/%69nvoke/', inference!.key)).toEqual(LET_IN);
});

test('keys that are renewed at once are all in the file, which is never open to others', async () => {
  const { ask, keys, file } = await world();
  const { API } = await keys();
  // What a server that was killed has left.
  await writeFile(`${file}.part`, 'x', { mode: 0o644 });
  const answers = await Promise.all(
    ['inference', 'management', 'inference', 'management'].map((kind) => ask(`/token?type=${kind}`, API!.key)),
  );
  expect(answers.map(([status]) => status)).toEqual([200, 200, 200, 200]);
  const after = await keys();
  expect([after['inference'], after['management']]).toEqual([answers[2]![1], answers[3]![1]]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('the file has all keys at any moment, also while new ones are written', async () => {
  const { ask, keys, file } = await world();
  const before = await keys();
  const { writeFile: write } = promises;
  const seen: boolean[] = [];
  promises.writeFile = async (...args) => {
    seen.push(existsSync(file));
    expect(await keys()).toEqual(before);
    return await write(...args);
  };
  syncBuiltinESMExports();
  try {
    await ask('/token?type=inference', before['API']!.key);
  } finally {
    promises.writeFile = write;
    syncBuiltinESMExports();
  }
  expect(seen).toEqual([true]);
  expect(await keys()).not.toEqual(before);
});
