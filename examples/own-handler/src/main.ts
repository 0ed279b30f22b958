import { connect } from 'tabserve';
import type { EvenOrOdd } from './even-or-odd.worker.ts';

const input = document.querySelector('input')!;
const output = document.querySelector('output')!;

const parity = connect<EvenOrOdd>(
  () => new Worker(new URL('./even-or-odd.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/digits/' },
);

input.addEventListener('change', () => {
  answer(input.files![0]!).catch((error: Error) => (output.textContent = error.message));
});

async function answer(photo: File): Promise<void> {
  // The first call downloads the model; later ones return at once.
  await parity.initialize({
    onProgress: ({ overall }) => (output.textContent = `${Math.round((overall.fraction ?? 0) * 100)} %`),
  });
  output.textContent = await parity.predict(photo);
}
