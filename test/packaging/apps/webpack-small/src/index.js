import { connect } from 'tabserve/core';

const input = document.querySelector('input');

async function show() {
  const classifier = connect(() => new Worker(new URL('./classifier.worker.js', import.meta.url), { type: 'module' }), {
    model: '/models/digits/',
  });
  await classifier.initialize();
  return { digits: await classifier.predict(input.files[0]), backends: [classifier.backend] };
}

input.addEventListener('change', () => {
  show()
    .catch((error) => ({ error: String(error) }))
    .then((shown) => (document.querySelector('pre').textContent = JSON.stringify(shown, null, 2)));
});
input.disabled = false;
