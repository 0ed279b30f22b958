// `examples/nginx`, as it is, on other ports: several processes behind nginx, one of which is killed, and one stopped,
// while requests are under way.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const root = fileURLToPath(new URL('../../', import.meta.url));
const hasNginx = spawnSync('nginx', ['-v']).status === 0;
test.skip(!hasNginx, 'nginx is not installed: apt-get install nginx-light');
test.setTimeout(180_000);

/** Returns this many ports that are free now. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Starts the example in a folder of its own, and waits until all of its servers are healthy. */
async function startExample() {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-nginx-'));
  for (const file of ['nginx.conf', 'start.mjs']) cpSync(join(root, 'examples/nginx', file), join(folder, file));
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(root, 'dist/tools/cli/main.js'), join(folder, 'node_modules/.bin/tabserve'));
  const [front, ...ports] = (await freePorts(4)) as [number, ...number[]];
  const configured = ['8080', '8081', '8082', '8083'];
  const config = readFileSync(join(folder, 'nginx.conf'), 'utf8');
  const moved = config.replace(/127\.0\.0\.1:(\d+)/g, (_, port: string) => {
    return `127.0.0.1:${[front, ...ports][configured.indexOf(port)]}`;
  });
  writeFileSync(join(folder, 'nginx.conf'), moved);
  const child = spawn(process.execPath, ['start.mjs', join(root, 'public/models/digits')], { cwd: folder });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const example = {
    url: `http://127.0.0.1:${front}`,
    ports,
    output: () => output,
    /** Returns the latest process of a server. */
    processOf: (port: number) =>
      Number([...output.matchAll(new RegExp(`port ${port} is process (\\d+)`, 'g'))].at(-1)![1]),
    isHealthy: async (port: number) => (await ping(`http://127.0.0.1:${port}`)) === 200,
    async end(): Promise<number | null> {
      child.kill('SIGTERM');
      const [code] = await exited;
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
  for (const port of [front, ...ports])
    await expect.poll(() => example.isHealthy(port), { timeout: 60_000 }).toBe(true);
  return example;
}

async function ping(url: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/ping`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  return answer?.status;
}

const photo = readFileSync(join(root, 'public/models/digits/samples/drawn-3.png'));

/** Sends requests, eight at a time, until it is told to stop, and returns how often each answer came. */
function load(url: string): { stop(): Promise<Record<string, number>> } {
  const answers: Record<string, number> = {};
  const stopped = new AbortController();
  const send = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const said = await fetch(`${url}/predictions/digits`, { method: 'POST', body: photo }).then(
        async (response) => `${response.status} ${/\w+/.exec(await response.text())?.[0]}`,
        (error: unknown) => String(error),
      );
      answers[said] = (answers[said] ?? 0) + 1;
    }
  };
  const all = Array.from({ length: 8 }, send);
  return {
    async stop() {
      stopped.abort();
      await Promise.all(all);
      return answers;
    },
  };
}

test('several servers behind nginx: one is killed, one hangs, and no request is lost @full', async () => {
  const example = await startExample();
  try {
    const [killed, hanging] = example.ports as [number, number];
    const requests = load(example.url);
    await wait(1000);
    for (const [port, signal] of [
      [killed, 'SIGKILL'],
      [hanging, 'SIGSTOP'],
    ] as const) {
      const before = example.processOf(port);
      process.kill(before, signal);
      await expect.poll(() => example.processOf(port), { timeout: 60_000 }).not.toBe(before);
      await expect.poll(() => example.isHealthy(port), { timeout: 60_000 }).toBe(true);
    }
    const answers = await requests.stop();
    expect(Object.keys(answers)).toEqual(['200 three']);
    expect(answers['200 three']).toBeGreaterThan(100);
    expect(example.output()).toContain(`The server on port ${hanging} is not healthy: it is replaced.`);
  } finally {
    expect(await example.end()).toBe(0);
  }
  for (const port of example.ports) expect(await ping(`http://127.0.0.1:${port}`)).toBeUndefined();
});
