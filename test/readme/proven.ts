import { clearVerdicts, load } from 'tabserve';

const net = await load('/models/digits/', {
  handler: 'image_classifier',
  verify: 'reference',
  prefer: 'fastest',
  measureBudget: 3000,
});
const { engine, name, proof, median, skipped } = net.backend!;
console.log(`${engine}/${name}, proven by ${proof}: ${median} ms a run`); // onnx/wasm, proven by golden: 1.9 ms a run
for (const { engine, name, reason } of skipped) console.debug(`${engine}/${name}: ${reason}`);
console.debug(net.diagnose()); // for a bug report: the probe, each candidate, what happened, how long it took
await clearVerdicts(); // the next visit compares and measures anew
