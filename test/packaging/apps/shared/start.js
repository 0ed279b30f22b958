/** An app would write its options down; this one also takes them from its address: `?assets=/engines/` or `?threads=2`. */
const query = new URLSearchParams(globalThis.location?.search);
const asked = {
  ...(query.has('assets') && { assets: query.get('assets') }),
  ...(query.has('threads') && { config: { engine: { threads: Number(query.get('threads')) } } }),
};

/**
 * Waits for the visitor to pick a file, and shows what TabServe says of it in the page's `pre`: a digit is classified by the built-in handler and by the app's
 * own, and objects are found in a scene. What differs between toolchains comes from the app: the imports, how its own worker starts, and options.
 */
export function start({ connect, load, makeWorker, options = {} }) {
  listen('#digit', async (photo) => {
    const classifier = await load('/models/digits/', { handler: 'image_classifier', ...options, ...asked });
    const digits = await classifier.predict(photo);
    await classifier.dispose();
    const parity = connect(makeWorker, { model: '/models/digits/', ...options, ...asked });
    await parity.initialize();
    const odd = await parity.predict(photo);
    await parity.dispose();
    return { digits, odd, backends: [classifier.backend, parity.backend] };
  });
  listen('#scene', async (photo) => {
    const detector = await load('/models/nanodet/', { handler: 'object_detector', ...options, ...asked });
    const objects = await detector.predict(photo);
    await detector.dispose();
    return { objects, backends: [detector.backend] };
  });
}

function listen(selector, answer) {
  const input = document.querySelector(selector);
  input.addEventListener('change', () => {
    answer(input.files[0])
      .catch((error) => ({ error: String(error) }))
      .then((shown) => (document.querySelector('pre').textContent = JSON.stringify(shown, null, 2)));
  });
  input.disabled = false;
}
