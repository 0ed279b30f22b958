import { connect, load } from 'tabserve';
import type { OddOrEven } from './odd-or-even.worker.ts';
import { options } from './options.ts';

async function show(): Promise<unknown> {
  const photo = document.querySelector('img')!;
  await photo.decode();

  const classifier = await load('/models/digits/', { handler: 'image_classifier', ...options });
  const digits = await classifier.predict(photo);
  await classifier.dispose();

  const parity = connect<OddOrEven>(
    () => new Worker(new URL('./odd-or-even.worker.ts', import.meta.url), { type: 'module' }),
    { model: '/models/digits/', ...options },
  );
  await parity.initialize();
  const odd = await parity.predict(photo);
  await parity.dispose();

  return { digits, odd, backends: [classifier.backend, parity.backend] };
}

show()
  .catch((error: unknown) => ({ error: String(error) }))
  .then((shown) => (document.querySelector('pre')!.textContent = JSON.stringify(shown, null, 2)));
