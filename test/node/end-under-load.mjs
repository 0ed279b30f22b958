// Ends threads in the middle of onnxruntime-node's calls. Of a hundred such ends, about three ended the whole process,
// with SIGABRT.
import { load } from '../../dist/node.js';

const MODEL = new URL('../../public/models/digits/', import.meta.url);
const BLANK = { data: new Uint8Array(28 * 28), dims: [28, 28, 1] };

async function loadAndRun() {
  const digits = await load(MODEL, { backends: ['onnx/cpu'], config: { engine: { threads: 1 } } });
  const answers = Array.from({ length: 60 }, () => digits.predict(BLANK).then(String, ({ code }) => code));
  await answers[0];
  return { digits, answers };
}

for (let round = 0; round < 8; round++) {
  const all = await Promise.all(Array.from({ length: 4 }, loadAndRun));
  await Promise.all(all.map(({ digits }) => digits.dispose()));
  await Promise.all(all.flatMap(({ answers }) => answers));
}
await loadAndRun();
process.exit();
