import { connect } from 'tabserve/core';
import type { ImageClassifier } from 'tabserve/worker';

const input = document.querySelector('input')!;

async function show(): Promise<unknown> {
  const classifier = connect<ImageClassifier>(
    () => new Worker(new URL('./classifier.worker.ts', import.meta.url), { type: 'module' }),
    { model: '/models/digits/' },
  );
  await classifier.initialize();
  return { digits: await classifier.predict(input.files![0]!), backends: [classifier.backend] };
}

input.addEventListener('change', () => {
  show()
    .catch((error: unknown) => ({ error: String(error) }))
    .then((shown) => (document.querySelector('pre')!.textContent = JSON.stringify(shown, null, 2)));
});
input.disabled = false;
