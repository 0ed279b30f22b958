import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const MODEL = fileURLToPath(new URL('../../public/models/digits/', import.meta.url));

/** What the digits model's config says of images. */
const [SIDE, MEAN, STD] = [28, 0.1307, 0.3081];
/** The most bytes of an image. */
const MAX_IMAGE_BYTES = 6_553_500;

/**
 * Adds the model server of the page *Fetch* to the dev server: ONNX Runtime in Node, with the gallery's model of digits
 * and TorchServe's path and JSON. `POST /model-server/off` has it drop every connection, until `on`.
 */
export function modelServer(): Plugin {
  let isOn = true;
  let model: Promise<(image: Buffer) => Promise<unknown>> | undefined;
  return {
    name: 'tabserve:model-server',
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const json = (body: unknown, status = 200): void => {
          response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
          response.end(JSON.stringify(body));
        };
        const [, turn] = /^\/model-server\/(on|off)$/.exec(request.url ?? '') ?? [];
        if (turn && request.method === 'POST') {
          isOn = turn === 'on';
          model ??= open();
          return void model.then(
            () => json({ isOn }),
            (error: unknown) => json({ message: String(error) }, 500),
          );
        }
        if (request.method !== 'POST' || !/^\/predictions\/digits[\w-]*$/.test(request.url ?? '')) return next();
        if (!isOn) return void request.socket.destroy();
        model ??= open();
        Promise.all([model, read(request)])
          .then(async ([predict, image]) => json(await predict(image)))
          .catch((error: unknown) => json({ code: 500, type: 'InternalServerException', message: String(error) }, 500));
      });
    },
  };
}

async function open(): Promise<(image: Buffer) => Promise<unknown>> {
  const [{ InferenceSession, Tensor }, { default: sharp }] = await Promise.all([
    import('onnxruntime-node'),
    import('sharp'),
  ]);
  const session = await InferenceSession.create(`${MODEL}digits.onnx`);
  const names = JSON.parse(readFileSync(`${MODEL}index_to_name.json`, 'utf8')) as Record<string, string>;
  return async (image) => {
    const pixels = await sharp(image)
      .flatten({ background: 'white' })
      .grayscale()
      .resize(SIDE, SIDE, { fit: 'fill', kernel: 'linear' })
      .raw()
      .toBuffer();
    const values = Float32Array.from(pixels, (value) => (value / 255 - MEAN) / STD);
    const outputs = await session.run({ [session.inputNames[0]!]: new Tensor('float32', values, [1, 1, SIDE, SIDE]) });
    const scores = softmax(outputs[session.outputNames[0]!]!.data as Float32Array);
    const best = [...scores].map((score, index) => [names[index]!, score] as const).toSorted(([, a], [, b]) => b - a);
    return Object.fromEntries(best.slice(0, 5));
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    parts.push(part);
    if ((size += part.length) > MAX_IMAGE_BYTES) throw new Error('The image is too large.');
  }
  return Buffer.concat(parts);
}

function softmax(logits: Float32Array): Float32Array {
  const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}
