import type { Plugin } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';
import { PREDICTIONS_WORKER } from './predictions-worker.ts';

/** Workers that one demo alone starts. Each brings its own copy of every engine's script. */
const RARE = /^assets\/(base|lossy)\.worker-/;

/** A service worker that ends itself. */
const GONE = `
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => {
  const reload = async () => {
    await self.registration.unregister();
    for (const client of await self.clients.matchAll({ type: 'window' })) await client.navigate(client.url);
  };
  event.waitUntil(reload());
});
`;

/**
 * Lets the built gallery open with the network off: a service worker keeps the page, its scripts and the samples.
 * Models and engines are kept by TabServe's own cache. The dev server has no service worker, and ends the one that a
 * built gallery has left on the same port.
 */
export function offline(): Plugin[] {
  const needed = new Set<string>();
  return [
    {
      name: 'tabserve:offline',
      apply: 'build',
      enforce: 'post',
      generateBundle: {
        order: 'post',
        handler(_, bundle) {
          const texts = Object.values(bundle).map((file): [string, string] => [
            file.fileName,
            file.type === 'chunk' ? file.code : typeof file.source === 'string' ? file.source : '',
          ]);
          collect('index.html', new Map(texts), needed);
        },
      },
    },
    {
      name: 'tabserve:no-service-worker',
      configureServer({ middlewares }) {
        middlewares.use((request, response, next) => {
          if (!/^\/sw\.js(\?|$)/.test(request.url ?? '')) return next();
          response.setHeader('Content-Type', 'text/javascript');
          response.end(GONE);
        });
      },
    },
    ...VitePWA({
      manifest: false,
      // The gallery registers it, once a visitor opens a demo: the first page stays small.
      injectRegister: false,
      workbox: {
        globPatterns: ['*.{html,svg}', 'assets/*.{css,js}', 'models/*/samples/*'],
        inlineWorkboxRuntime: true,
        // The page Fetch.
        importScripts: [PREDICTIONS_WORKER],
        manifestTransforms: [
          (entries) => ({ manifest: entries.filter(({ url }) => !url.startsWith('assets/') || needed.has(url)) }),
        ],
      },
    }),
  ];
}

/** Adds a file and, of what it names, the files that are needed. */
function collect(file: string, texts: ReadonlyMap<string, string>, needed: Set<string>): void {
  if (needed.has(file)) return;
  needed.add(file);
  for (const [name] of (texts.get(file) ?? '').matchAll(/[\w.-]+\.(?:js|css)\b/g)) {
    const path = `assets/${name}`;
    if (texts.has(path) && !RARE.test(path)) collect(path, texts, needed);
  }
}
