import { connect } from 'tabserve/core';

async function show() {
  const photo = document.querySelector('img');
  await photo.decode();
  const classifier = connect(() => new Worker(new URL('./classifier.worker.js', import.meta.url), { type: 'module' }), {
    model: '/models/digits/',
  });
  await classifier.initialize();
  return { digits: await classifier.predict(photo), backends: [classifier.backend] };
}

show()
  .catch((error) => ({ error: String(error) }))
  .then((shown) => (document.querySelector('pre').textContent = JSON.stringify(shown, null, 2)));
