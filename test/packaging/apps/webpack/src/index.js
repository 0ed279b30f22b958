import { connect, load } from 'tabserve';

/** An app would write its options down; this one takes them from its address: `?assets=/ort/` or `?threads=2`. */
const query = new URLSearchParams(location.search);
const options = {
  assets: query.get('assets') ?? undefined,
  config: query.has('threads') ? { engine: { threads: Number(query.get('threads')) } } : undefined,
};

async function show() {
  const photo = document.querySelector('img');
  await photo.decode();

  const classifier = await load('/models/digits/', { handler: 'image_classifier', ...options });
  const digits = await classifier.predict(photo);
  await classifier.dispose();

  const parity = connect(() => new Worker(new URL('./odd-or-even.worker.js', import.meta.url), { type: 'module' }), {
    model: '/models/digits/',
    ...options,
  });
  await parity.initialize();
  const odd = await parity.predict(photo);
  await parity.dispose();

  return { digits, odd, backends: [classifier.backend, parity.backend] };
}

show()
  .catch((error) => ({ error: String(error) }))
  .then((shown) => (document.querySelector('pre').textContent = JSON.stringify(shown, null, 2)));
