import { connect } from 'tabserve/core';
import type { ImageClassifier } from 'tabserve/worker';

async function show(): Promise<unknown> {
  const photo = document.querySelector('img')!;
  await photo.decode();
  const classifier = connect<ImageClassifier>(
    () => new Worker(new URL('./classifier.worker.ts', import.meta.url), { type: 'module' }),
    { model: '/models/digits/' },
  );
  await classifier.initialize();
  return { digits: await classifier.predict(photo), backends: [classifier.backend] };
}

show()
  .catch((error: unknown) => ({ error: String(error) }))
  .then((shown) => (document.querySelector('pre')!.textContent = JSON.stringify(shown, null, 2)));
