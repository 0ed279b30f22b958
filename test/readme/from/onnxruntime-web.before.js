import * as ort from 'onnxruntime-web';

ort.env.wasm.wasmPaths = '/onnxruntime/';
const session = await ort.InferenceSession.create('/models/digits/digits.onnx', { executionProviders: ['wasm'] });
const canvas = new OffscreenCanvas(28, 28);
const context = canvas.getContext('2d');
context.drawImage(document.querySelector('img'), 0, 0, 28, 28);
const { data } = context.getImageData(0, 0, 28, 28);
const pixels = new Float32Array(28 * 28);
for (let at = 0; at < pixels.length; at++) {
  const gray = (0.299 * data[4 * at] + 0.587 * data[4 * at + 1] + 0.114 * data[4 * at + 2]) / 255;
  pixels[at] = (gray - 0.1307) / 0.3081;
}
const outputs = await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', pixels, [1, 1, 28, 28]) });
const logits = [...outputs[session.outputNames[0]].data];
const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
const scores = powers.map((power) => power / powers.reduce((sum, other) => sum + other, 0));
const best = scores.indexOf(Math.max(...scores));
console.log(best, scores[best]);
