/**
 * The server that someone would write by hand for one image classifier: `node:http`, sharp and onnxruntime-node, in one
 * thread. Its answer is that of `tabserve serve` for the gallery's digits: TorchServe's five best classes.
 *
 *     node bench/lib/hand-server.mjs public/models/digits
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import sharp from 'sharp';

const folder = process.argv[2];
const labels = Object.values(JSON.parse(readFileSync(join(folder, 'index_to_name.json'), 'utf8')));
const session = await InferenceSession.create(join(folder, 'digits.onnx'), {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
});
const [input] = session.inputNames;
const [output] = session.outputNames;
const SIZE = 28;

async function predict(bytes) {
  const pixels = await sharp(bytes)
    .flatten({ background: 'white' })
    .greyscale()
    .resize(SIZE, SIZE, { fit: 'fill' })
    .raw()
    .toBuffer();
  const data = Float32Array.from(pixels, (value) => (255 - value) / 255);
  const outputs = await session.run({ [input]: new Tensor('float32', data, [1, 1, SIZE, SIZE]) });
  const logits = [...outputs[output].data];
  const largest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  const best = powers.map((power, at) => [labels[at], power / sum]).sort(([, one], [, other]) => other - one);
  return Object.fromEntries(best.slice(0, 5));
}

const server = createServer((incoming, outgoing) => {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () =>
    predict(Buffer.concat(chunks)).then(
      (answer) => {
        outgoing.writeHead(200, { 'Content-Type': 'application/json' });
        outgoing.end(JSON.stringify(answer));
      },
      (error) => {
        outgoing.writeHead(400);
        outgoing.end(String(error));
      },
    ),
  );
});
server.listen(0, '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${server.address().port}`));
