import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../packaging/fixtures.ts';
import { freshApp } from './fresh-app.ts';

/** The steps of a Dockerfile. Those of `CMD` and `HEALTHCHECK` are lists in JSON. */
function stepsOf(text: string): readonly (readonly [instruction: string, rest: string])[] {
  return Array.from(text.matchAll(/^([A-Z]+) (.*)$/gm), ([, instruction, rest]) => [instruction!, rest!] as const);
}

const four = (folder: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(join(folder, 'models/digits/samples/digit-4.png')));

test('examples/server: the steps of its Dockerfile make a server that is healthy and answers', async ({ tarball }) => {
  const source = await freshApp(tarball, 'server', 'examples');
  const image = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    cpSync(join(source, 'public/models'), join(source, 'models'), { recursive: true });
    const steps = stepsOf(readFileSync(join(source, 'Dockerfile'), 'utf8'));
    for (const [instruction, rest] of steps) {
      if (instruction === 'COPY') {
        const [from, to] = rest.split(' ') as [string, string];
        cpSync(join(source, from), join(image, to === './' ? from : to), { recursive: true });
      }
      if (instruction === 'RUN') execFileSync('sh', ['-c', rest], { cwd: image });
    }
    const command = JSON.parse(steps.find(([instruction]) => instruction === 'CMD')![1]) as string[];
    const [program, ...args] = [...command, '--port', '0'];
    const server = spawn(join(image, program!), args, { cwd: image });
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exited = once(server, 'exit');
    try {
      await expect.poll(() => output, { timeout: 60_000 }).toContain('Listening on');
      const [, port] = /Listening on http:\/\/[^:]+:(\d+)/.exec(output)!;
      const [, health] = /CMD (.*)$/.exec(steps.find(([instruction]) => instruction === 'HEALTHCHECK')![1])!;
      const [node, ...checkArgs] = JSON.parse(health!.replace('8080', port!)) as [string, ...string[]];
      expect(spawnSync(node, checkArgs).status).toBe(0);
      const answer = await fetch(`http://127.0.0.1:${port}/predictions/digits`, { method: 'POST', body: four(image) });
      expect(Object.keys((await answer.json()) as object)[0]).toBe('four');
      await expect.poll(() => output).toContain('"path":"/predictions/digits"');
    } finally {
      server.kill();
      await exited;
    }
  } finally {
    for (const folder of [source, image]) rmSync(folder, { recursive: true, force: true });
  }
});
