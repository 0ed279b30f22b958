/**
 * Loads a model and asks it, as an app would. It runs in a page and under Node, so it uses only what it is given.
 * @param {typeof import('../../src/index.ts').load} load
 * @param {{ url: string, options: object, inputs: readonly unknown[], params: object }} work
 */
export async function ask(load, { url, options, inputs, params }) {
  const started = performance.now();
  const client = await load(url, options);
  const loaded = performance.now();
  const answers = [];
  for (const input of inputs) answers.push(await client.predict(input, { params }));
  const ended = performance.now();
  const { precision } = client.backend;
  await client.dispose();
  return { answers, precision, load: (loaded - started) / 1000, answer: (ended - loaded) / 1000 / inputs.length };
}
