// A server that is operated: what `tabserve serve` logs, keeps and loads again, and `tabserve bench`. The command of the
// built package, as a process.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const root = fileURLToPath(new URL('../../', import.meta.url));
const main = join(root, 'dist/tools/cli/main.js');
const DIGITS = join(root, 'public/models/digits');
const four = new Uint8Array(readFileSync(join(DIGITS, 'samples/digit-4.png')));

interface Running {
  readonly url: string;
  readonly child: ChildProcess;
  readonly lines: () => readonly string[];
  end(): Promise<void>;
}

const children = new Set<ChildProcess>();
test.afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function start(cwd: string, ...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const exited = once(child, 'exit').finally(() => children.delete(child));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const [, found] = /Listening on (\S+)/.exec(output) ?? [];
        if (found !== undefined) resolve(found);
      });
    void exited.then(() => reject(new Error(`It ended: ${output}`)));
  });
  return {
    url,
    child,
    lines: () => output.split('\n'),
    async end() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const folder = (): string => mkdtempSync(join(tmpdir(), 'operate-'));

async function best(url: string, model: string): Promise<string | undefined> {
  const response = await fetch(`${url}/predictions/${model}`, { method: 'POST', body: four });
  return response.ok ? Object.keys((await response.json()) as object)[0] : undefined;
}

test('the access log has a line for each request, in either form @full', async () => {
  const common = await start(root, 'public/models/digits/', '--access-log', 'common');
  await fetch(`${common.url}/ping?x="y"`);
  const body = '{"status":"Healthy"}';
  const lines = (server: Running, text: string): readonly string[] =>
    server.lines().filter((line) => line.includes(text));
  await expect.poll(() => lines(common, '/ping').length).toBe(1);
  expect(lines(common, '/ping')[0]).toMatch(
    new RegExp(
      String.raw`^127\.0\.0\.1 - - \[\d\d/\w{3}/20\d\d:\d\d:\d\d:\d\d \+0000\] "GET /ping\?x=%22y%22 HTTP/1\.1" 200 ${body.length}$`,
    ),
  );
  await common.end();
  const json = await start(root, 'public/models/digits/', '--access-log', 'json');
  await fetch(`${json.url}/predictions/none`, { method: 'POST', body: 'x', headers: { 'X-Request-Id': 'mine' } });
  await expect.poll(() => lines(json, '/predictions').length).toBe(1);
  expect(JSON.parse(lines(json, '/predictions')[0]!)).toMatchObject({
    method: 'POST',
    path: '/predictions/none',
    status: 404,
    requestId: 'mine',
    milliseconds: expect.any(Number) as unknown,
  });
  await json.end();
});

test('a model store: every archive of it, or some by other names; requests load from it alone @full', async () => {
  const store = folder();
  cpSync(DIGITS, join(store, 'digits'), { recursive: true });
  writeFileSync(join(store, 'notes.txt'), 'no archive');
  writeFileSync(join(store, 'bad.mar'), 'no archive, either');
  const all = await start(root, '--model-store', store, 'all');
  expect(await best(all.url, 'digits')).toBe('four');
  expect(all.lines().join('\n')).toMatch(/Not served: bad\.mar: /);
  await all.end();
  const renamed = await start(root, '--model-store', store, 'numbers=digits', '--management');
  expect([await best(renamed.url, 'numbers'), await best(renamed.url, 'digits')]).toEqual(['four', undefined]);
  const load = async (name: string): Promise<number> =>
    (await fetch(`${renamed.url}/v2/repository/models/${name}/load`, { method: 'POST' })).status;
  expect(await load('digits')).toBe(200);
  expect(await best(renamed.url, 'digits')).toBe('four');
  expect(await load('..%2F..%2Fdigits')).toBeGreaterThanOrEqual(400);
  const outside = `${renamed.url}/models?url=${encodeURIComponent(DIGITS)}&model_name=outside`;
  expect((await fetch(outside, { method: 'POST' })).status).toBe(400);
  await renamed.end();
  const none = spawnSync(process.execPath, [main, 'serve', '--model-store', folder(), 'all'], { encoding: 'utf8' });
  expect([none.status, none.stderr]).toEqual([1, expect.stringContaining('has no archive') as unknown]);
});

test('a snapshot brings back what was registered, by whom ever', async () => {
  const cwd = folder();
  cpSync(DIGITS, join(cwd, 'digits'), { recursive: true });
  const args = ['digits/', '--management', '--snapshot', 'models.json'];
  const first = await start(cwd, ...args);
  const second = `${first.url}/models?url=digits/&model_name=numbers&model_version=2.0&batch_size=4`;
  expect((await fetch(second, { method: 'POST' })).status).toBe(200);
  expect((await fetch(`${first.url}/models/digits`, { method: 'DELETE' })).status).toBe(200);
  // A server that is killed has kept it already.
  await expect.poll(() => readFileSync(join(cwd, 'models.json'), 'utf8')).not.toContain('"digits"');
  first.child.kill('SIGKILL');
  const again = await start(cwd, ...args);
  expect([await best(again.url, 'numbers'), await best(again.url, 'digits')]).toEqual(['four', undefined]);
  const [described] = (await (await fetch(`${again.url}/models/numbers`)).json()) as { batchSize: number }[];
  expect(described).toMatchObject({ modelVersion: '2.0', batchSize: 4 });
  await again.end();
  // One of two can no longer be loaded.
  const kept = JSON.parse(readFileSync(join(cwd, 'models.json'), 'utf8')) as { models: object[] };
  kept.models.push({ ...kept.models[0], name: 'lost', model: 'lost/' });
  writeFileSync(join(cwd, 'models.json'), JSON.stringify(kept));
  const third = await start(cwd, ...args);
  expect(third.lines()).toContainEqual(expect.stringMatching(/^lost 2\.0: could not be loaded: .*lost/));
  expect(await best(third.url, 'numbers')).toBe('four');
  const [lost] = (await (await fetch(`${third.url}/models/lost`)).json()) as { error: string }[];
  expect(lost).toMatchObject({ modelName: 'lost', workers: [], error: expect.stringContaining('lost') as unknown });
  await third.end();
  expect(readFileSync(join(cwd, 'models.json'), 'utf8')).toContain('"lost"');
  writeFileSync(join(cwd, 'models.json'), '{');
  const broken = spawnSync(process.execPath, [main, 'serve', ...args], { cwd, encoding: 'utf8' });
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining('models.json cannot be read') as unknown]);
});

test('of several archives, the one that cannot be loaded is named', () => {
  const cwd = folder();
  for (const name of ['digits', 'own']) cpSync(DIGITS, join(cwd, name), { recursive: true });
  const manifest = join(cwd, 'own/MAR-INF/MANIFEST.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('image_classifier', 'odd_or_even'));
  const refused = spawnSync(process.execPath, [main, 'serve', '--port', '0', 'digits', 'own'], {
    cwd,
    encoding: 'utf8',
  });
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(/^tabserve: own: There is no built-in handler "odd_or_even"/);
});

test('SIGHUP loads the archives once more, and no request is lost', async () => {
  const cwd = folder();
  cpSync(DIGITS, join(cwd, 'digits'), { recursive: true });
  const server = await start(cwd, 'digits/');
  expect(await best(server.url, 'digits')).toBe('four');
  const names = join(cwd, 'digits/index_to_name.json');
  writeFileSync(names, readFileSync(names, 'utf8').replace('four', 'vier'));
  const updated = spawnSync(process.execPath, [main, 'archive', '--update-hashes', 'digits'], {
    cwd,
    encoding: 'utf8',
  });
  expect(updated.status, updated.stderr).toBe(0);
  const over = new AbortController();
  const seen = new Set<string | undefined>();
  const asking = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) seen.add(await best(server.url, 'digits'));
    }),
  );
  server.child.kill('SIGHUP');
  await expect.poll(() => server.lines().filter((line) => line.includes('loaded again'))).toHaveLength(1);
  expect(await best(server.url, 'digits')).toBe('vier');
  over.abort();
  await asking;
  expect([...seen].sort()).toEqual(['four', 'vier']);
  // An archive that cannot be loaded leaves the server as it is.
  rmSync(join(cwd, 'digits/digits.onnx'));
  server.child.kill('SIGHUP');
  await expect.poll(() => server.lines().filter((line) => line.includes('not loaded again'))).toHaveLength(1);
  expect(await best(server.url, 'digits')).toBe('vier');
  await server.end();
});

test('archives that are to be loaded again while they are loaded again are loaded twice @full', async () => {
  const script = `
    import { serve } from ${JSON.stringify(new URL('../../dist/tools/cli/serve.js', import.meta.url).href)};
    const lines = [];
    const running = await serve(['digits/'], { port: '0' }, (line) => lines.push(line));
    lines.length = 0;
    await Promise.all([running.reload(), running.reload()]);
    console.log(JSON.stringify(lines.map((line) => line.replace(/^.*?: /, ''))));
    await running.close();
  `;
  const cwd = folder();
  cpSync(DIGITS, join(cwd, 'digits'), { recursive: true });
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' });
  expect(ran.stdout, ran.stderr).toBe('["loaded again","loaded again"]\n');
});

test('keys: a request without one is refused, and the command says where they are', async () => {
  const cwd = folder();
  const server = await start(cwd, DIGITS, '--token-auth', '--token-expiration-min', '5');
  expect(server.lines().join('\n')).toContain('key_file.json');
  const { inference } = JSON.parse(readFileSync(join(cwd, 'key_file.json'), 'utf8')) as { inference: { key: string } };
  expect(await best(server.url, 'digits')).toBeUndefined();
  const headers = { Authorization: `Bearer ${inference.key}` };
  expect((await fetch(`${server.url}/predictions/digits`, { method: 'POST', body: four, headers })).status).toBe(200);
  expect((await fetch(`${server.url}/ping`)).status).toBe(200);
  await server.end();
});

test('tabserve bench measures a server, and says when its answers are errors @full', async () => {
  const server = await start(root, 'public/models/digits/');
  const cwd = folder();
  const run = async (path: string, ...flags: readonly string[]): Promise<readonly [number | null, string]> => {
    const child = spawn(process.execPath, [main, 'bench', server.url + path, '--duration', '1', ...flags], { cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'exit')) as [number | null];
    return [code, output];
  };
  const input = ['--input', join(DIGITS, 'samples/digit-4.png'), '--concurrency', '3', '--report', 'report.json'];
  const [code, output] = await run('/predictions/digits', ...input);
  expect(code, output).toBe(0);
  const report = JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')) as Record<string, number> & {
    readonly statuses: Record<string, number>;
    readonly latency: Record<string, number>;
  };
  expect(report).toMatchObject({ concurrency: 3, duration: 1, failures: {} });
  expect(report.statuses).toEqual({ 200: report['requests'] });
  expect(report['requests']).toBeGreaterThan(3);
  const { p50, p90, p99, max } = report.latency as Record<'p50' | 'p90' | 'p99' | 'max', number>;
  expect([p50, p90, p99, max].every((value, at, all) => value > 0 && value >= (all[at - 1] ?? 0))).toBe(true);
  // Little's law: this many at once, each as long as the mean.
  expect((report['requestsPerSecond']! * report.latency['mean']!) / 1000).toBeLessThanOrEqual(3.01);
  const [failed, told] = await run('/predictions/none', '--warm-up', '0');
  expect([failed, told]).toEqual([1, expect.stringMatching(/statuses\s+404: \d+/) as unknown]);
  await server.end();
  const [gone, why] = await run('/predictions/digits', '--warm-up', '0');
  expect([gone, why]).toEqual([1, expect.stringContaining('has answered nothing') as unknown]);
});

test('a workflow as torch-workflow-archiver packs it, and as tabserve archive does: registered, listed, asked, removed @full', async () => {
  const store = folder();
  for (const name of ['tiny.mar', 'pair.war']) cpSync(join(root, 'test/models/archives', name), join(store, name));
  const dag = 'models:\n  first: { url: tiny.mar }\ndag:\n  first: []\n';
  writeFileSync(join(store, 'spec.yaml'), dag);
  const made = spawnSync(
    process.execPath,
    [main, 'archive', '--workflow', '--workflow-name', 'own', '--spec-file', 'spec.yaml', '--extra-files', 'tiny.mar'],
    { cwd: store, encoding: 'utf8' },
  );
  expect(made.status, made.stderr).toBe(0);
  const server = await start(root, '--model-store', store, 'pair.war', 'own.war', '--management');
  const ask = async (path: string, method = 'GET', body?: BodyInit): Promise<unknown> => {
    const response = await fetch(server.url + path, { method, ...(body !== undefined && { body }) });
    return [response.status, await response.json()];
  };
  const photo = new Uint8Array(readFileSync(join(root, 'public/models/digits/samples/digit-4.png')));
  const [, alone] = (await ask('/wfpredict/own', 'POST', photo)) as [number, object];
  expect(Object.keys(alone).length).toBeGreaterThan(1);
  expect(await ask('/wfpredict/pair', 'POST', photo)).toEqual([200, { first: alone, second: alone }]);
  expect(await ask('/workflows')).toEqual([
    200,
    {
      workflows: [
        { workflowName: 'own', workflowUrl: 'own.war' },
        { workflowName: 'pair', workflowUrl: 'pair.war' },
      ],
    },
  ]);
  expect(await ask('/workflows/pair')).toEqual([
    200,
    [
      {
        workflowName: 'pair',
        workflowUrl: 'pair.war',
        minWorkers: 1,
        maxWorkers: 2,
        batchSize: 4,
        maxBatchDelay: 100,
        workflowDag: '{"first":[],"second":[]}',
        nodes: ['first', 'second'],
      },
    ],
  ]);
  const done = { status: 'Workflow again has been registered and scaled successfully.' };
  expect(await ask('/workflows?url=pair.war&workflow_name=again', 'POST')).toEqual([200, done]);
  expect((await ask('/workflows?url=tiny.mar', 'POST')) as unknown[]).toContain(400);
  expect(
    ((await ask('/models')) as [number, { models: { modelName: string }[] }])[1].models.map(
      ({ modelName }) => modelName,
    ),
  ).toEqual(['again', 'own', 'pair']);
  expect(await ask('/workflows/again', 'DELETE')).toEqual([200, { status: 'Workflow "again" unregistered' }]);
  const unknown = { code: 404, type: 'WorkflowNotFoundException', message: 'Workflow not found: again' };
  expect(await ask('/wfpredict/again', 'POST', photo)).toEqual([404, unknown]);
  await server.end();
  // A function of its .py file does not run here.
  cpSync(join(root, 'test/models/archives/workflow.war'), join(store, 'workflow.war'));
  const refused = spawnSync(process.execPath, [main, 'serve', '--model-store', store, 'workflow.war'], {
    encoding: 'utf8',
  });
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining('"pre_processing" is no archive of `nodes`, and no function here') as unknown,
  ]);
});
