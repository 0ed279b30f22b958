/// <reference types="vite/client" />
import { load } from 'tabserve';
import { hostModels, whenControlled } from 'tabserve/service-worker';
import { ModelServer } from 'tabserve/serving';

const input = document.querySelector('input')!;
const output = document.querySelector('output')!;

input.addEventListener('change', () => {
  answer(input.files![0]!).catch((error: Error) => (output.textContent = error.message));
});
host().catch((error: Error) => console.warn(`KServe answers, because this device cannot: ${error.message}`));

/** Lets this page answer requests to the model. Until it can, and if it fails, KServe answers them. */
async function host(): Promise<void> {
  await navigator.serviceWorker.register(import.meta.env.DEV ? '/sw.ts' : '/sw.js', { type: 'module' });
  await whenControlled();
  const server = new ModelServer();
  await server.register(await load('/models/digits/'), { name: 'digits' });
  await hostModels(server).ready;
  output.textContent = 'This device answers.';
}

/** Asks by KServe's protocol v1: nothing here knows who answers. */
async function answer(photo: File): Promise<void> {
  const response = await fetch('/v1/models/digits:predict', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ instances: [{ b64: await base64(photo) }] }),
  });
  const { predictions, error } = (await response.json()) as {
    readonly predictions?: readonly Readonly<Record<string, number>>[];
    readonly error?: string;
  };
  if (!predictions) throw new Error(error);
  const [[label, score] = []] = Object.entries(predictions[0]!);
  output.textContent = `${label}: ${score}, by the ${response.headers.get('TabServe-Answered-By') ?? 'server'}`;
}

async function base64(photo: File): Promise<string> {
  const bytes = new Uint8Array(await photo.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
