import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, expectParty, expectSeven, test } from '../packaging/fixtures.ts';
import { serve } from '../packaging/server.ts';
import { freshApp, npm, startServer } from './fresh-app.ts';

/**
 * A fresh app of each toolchain, from the packed tarball, with pinned versions: it classifies a picked file, detects
 * objects, and runs a handler of its own.
 */
interface Toolchain {
  readonly title: string;
  readonly app: string;
  /** The script of its package.json that builds it, with more arguments. */
  readonly build?: readonly string[];
  /** Folders to serve after the build. */
  readonly served?: readonly string[];
  /** A program of node_modules that serves the app, with its arguments. */
  readonly server?: readonly string[];
  /** Its pages have inline scripts, which the strict policy forbids. */
  readonly inlineScripts?: boolean;
  /** Page loads until the answer. */
  readonly loads?: number;
}

const INLINE =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

const TOOLCHAINS: readonly Toolchain[] = [
  {
    title: 'Vite, dev server with a cold cache',
    app: 'vite',
    server: ['vite/bin/vite.js', '--host', '127.0.0.1', '--port', '0'],
  },
  { title: 'Vite, build', app: 'vite', build: ['build'], served: ['dist'] },
  { title: 'webpack 5', app: 'webpack', build: ['build'], served: ['dist', 'public'] },
  { title: 'esbuild', app: 'esbuild', build: ['build'], served: ['public'] },
  { title: 'Rollup', app: 'rollup', build: ['build'], served: ['public'] },
  { title: 'Parcel 2', app: 'parcel', build: ['build'], served: ['dist', 'public'], inlineScripts: true },
  { title: 'plain HTML', app: 'plain', build: ['build'], served: ['.', 'public'] },
  { title: 'SvelteKit', app: 'sveltekit', build: ['build'], served: ['build', 'public'], inlineScripts: true },
  { title: 'Next.js, Turbopack', app: 'next', build: ['build'], served: ['out', 'public'], inlineScripts: true },
  {
    title: 'Next.js, webpack',
    app: 'next',
    build: ['build', '--', '--webpack'],
    served: ['out', 'public'],
    inlineScripts: true,
  },
  {
    title: 'Next.js, dev server',
    app: 'next',
    server: ['next/dist/bin/next', 'dev', '--hostname', '127.0.0.1', '--port', '0'],
  },
];

for (const { title, app, build, served, server, inlineScripts = false, loads = 1 } of TOOLCHAINS) {
  test(title, async ({ tarball, page, open, detect, complaints }) => {
    const folder = await freshApp(tarball, app);
    let loaded = 0;
    page.on('load', () => loaded++);
    try {
      if (build) await npm(folder, 'run', ...build);
      await using site = server
        ? await startServer(folder, server)
        : await serve(
            served!.map((name) => join(folder, name)),
            inlineScripts ? { policy: INLINE } : {},
          );
      expectSeven(await open(site.origin));
      expectParty(await detect());
      expect(loaded).toBe(loads);
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
