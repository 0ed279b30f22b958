/** Exposes the module under test as `self.images`, and answers a row that the page sends with its pixels. */
import { unwrap } from '../../../src/worker/handlers/row.js';
import { decodeImage } from '../../../src/worker/images/decode.js';

Object.assign(self, { images: { decodeImage } });

addEventListener('message', async ({ data }) => {
  try {
    const image = await decodeImage(unwrap(data));
    const { format, width, height, stride, data: bytes } = await image.read();
    postMessage({ format, width, height, stride, bytes: [...bytes] });
    image.close();
  } catch (error) {
    postMessage({ error: String(error) });
  }
});
