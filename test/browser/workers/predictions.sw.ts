/** An app's own service worker: it keeps the app for visits without a network, and has models' requests answered. */
import { answerPredictions } from '../../../src/service-worker.ts';

interface AppScope {
  addEventListener(type: string, listener: (event: AppEvent) => void): void;
  skipWaiting(): Promise<void>;
}

interface AppEvent {
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const app = globalThis as unknown as AppScope;

answerPredictions({
  models: {
    news: 'device-first',
    digits: 'device-first',
    private: 'device-only',
    backup: 'server-first',
    elsewhere: 'device-first',
    writer: 'device-first',
    image_classifier: 'device-first',
    image_segmenter: 'device-first',
    object_detector: 'device-first',
    text_classifier: 'device-first',
  },
  serverTimeout: 1_000,
});

app.addEventListener('install', (event) => event.waitUntil(app.skipWaiting()));
app.addEventListener('fetch', (event) => {
  if (event.request.method === 'GET' && !event.request.url.includes('/ping')) event.respondWith(cached(event.request));
});

async function cached(request: Request): Promise<Response> {
  const cache = await caches.open('app');
  const kept = await cache.match(request);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200 && !/\/v2|\/models\/?$|\/metrics/.test(request.url))
    await cache.put(request, response.clone());
  return response;
}
