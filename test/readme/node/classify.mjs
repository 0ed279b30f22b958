import { readFile } from 'node:fs/promises';
import { load } from 'tabserve/node';

const digits = await load('./models/digits/', { config: { handler: { topK: 1 } } });
console.log(digits.backend.engine, digits.backend.name); // onnx cpu

const photo = new Blob([await readFile('./models/digits/samples/digit-4.png')]);
const [best] = await digits.predict(photo);
console.log(best.label); // four

// Until then, its worker threads keep the process alive.
await digits.dispose();
