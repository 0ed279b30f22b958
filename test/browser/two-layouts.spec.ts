import { expect, test } from './fixtures.ts';

test('one archive, two layouts: each engine has the config and the golden example of its own model @once', async ({
  open,
}) => {
  const page = await open();
  const [onnx, tfjs] = await page.evaluate(async () => {
    // Each channel has another gradient: an answer to confused channels or columns would be another one.
    const image = new OffscreenCanvas(8, 8);
    const context = image.getContext('2d')!;
    for (let pixel = 0; pixel < 64; pixel++) {
      const [x, y] = [pixel % 8, Math.floor(pixel / 8)];
      context.fillStyle = `rgb(${32 * x} ${32 * y} ${16 * (x + y)})`;
      context.fillRect(x, y, 1, 1);
    }
    const photo = await image.convertToBlob();
    const ask = async (candidate: 'onnx/wasm' | 'tfjs/wasm') => {
      const options = { handler: 'image_classifier', backends: [candidate] } as const;
      const client = await window.tabserve.load('/test/models/two-layouts/', options);
      const { inputs } = await client.describe();
      const answer = await client.predict(photo);
      const { engine, proof } = client.backend!;
      await client.dispose();
      return {
        engine,
        proof,
        dims: inputs![0]!.dims,
        labels: answer.map(({ label }) => label),
        scores: answer.map(({ score }) => score),
      };
    };
    return [await ask('onnx/wasm'), await ask('tfjs/wasm')];
  });
  expect(onnx).toMatchObject({ engine: 'onnx', proof: 'golden', dims: [1, 3, 8, 8] });
  expect(tfjs).toMatchObject({ engine: 'tfjs', proof: 'golden', dims: [1, 8, 8, 3] });
  expect(onnx!.scores).toHaveLength(5);
  expect(tfjs!.labels).toEqual(onnx!.labels);
  for (const [index, score] of onnx!.scores.entries()) expect(tfjs!.scores[index]).toBeCloseTo(score, 5);
});
