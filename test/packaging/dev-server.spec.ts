import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { install } from './app.ts';
import { expect, expectSeven, FULL_ONLY, test } from './fixtures.ts';

for (const { title, without } of [
  { title: 'with the plugin', without: [] },
  { title: 'without any config', without: ['vite.config.ts'] },
]) {
  test(`Vite's dev server, ${title}`, async ({ tarball, page, open, complaints, full }, info) => {
    // With the plugin it also serves the app of `testing.spec.ts`.
    test.skip(!full && without.length === 0, FULL_ONLY);
    const folder = await install(tarball, 'vite', { without });
    const vite = spawn(
      process.execPath,
      ['node_modules/vite/bin/vite.js', '--host', '127.0.0.1', '--port', '0', '--no-clearScreen'],
      {
        cwd: folder,
        env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, NODE_ENV: undefined },
      },
    );
    try {
      let log = '';
      vite.stderr.on('data', (text) => (log += text));
      const origin = await new Promise<string>((resolve, reject) => {
        vite.stdout.on('data', (text) => {
          log += text;
          const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(log) ?? [];
          if (found) resolve(found);
        });
        vite.on('exit', () => reject(new Error(log)));
      });
      let loads = 0;
      page.on('load', () => loads++);
      const missing: string[] = [];
      page.on('response', (response) => response.status() >= 400 && missing.push(new URL(response.url()).pathname));
      const shown = await open(`${origin}/?threads=2`);
      expectSeven(shown);
      info.annotations.push(
        { type: 'page loads', description: String(loads) },
        { type: 'log', description: log },
        { type: 'console', description: complaints.join('\n') },
      );
      // Without the plugin, Vite finds what a worker imports when the worker asks for it, and may then reload the page,
      // once; and one thread runs.
      const isPrepared = without.length === 0;
      expect(loads).toBeLessThanOrEqual(isPrepared ? 1 : 2);
      expect(shown.backends.map(({ threads }) => threads)).toEqual(isPrepared ? [2, 2] : [1, 1]);
      expect(missing.filter((path) => path !== '/favicon.ico')).toEqual([]);
      const said = complaints.filter((text) => !text.includes('404'));
      const oneThread =
        'tabserve: ONNX Runtime computes with 1 thread instead of 2: the page is not cross-origin isolated by the headers COOP and COEP.';
      expect([...new Set(said)]).toEqual(isPrepared ? [] : [oneThread]);
    } finally {
      vite.kill();
      if (vite.exitCode === null && vite.signalCode === null) await once(vite, 'exit');
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
