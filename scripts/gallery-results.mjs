/**
 * Makes what the cards of the gallery's first page show: each demo's model answers one of its samples, in Chromium, and
 * the answers are written to `demo/home/`. Run it after a change of a model or a sample:
 * `node scripts/gallery-results.mjs`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import sharp from 'sharp';
import { createServer, runnerImport } from 'vite';

const root = fileURLToPath(new URL('../', import.meta.url));
const {
  module: { chromiumArgs, chromiumPath },
} = await runnerImport(`${root}scripts/chromium.ts`);
const server = await createServer({
  configFile: `${root}vite.config.ts`,
  root: `${root}demo`,
  server: { port: 0, hmr: false, watch: null },
});
await server.listen();
const browser = await chromium.launch({
  args: [...chromiumArgs.wasm],
  ...(chromiumPath && { executablePath: chromiumPath }),
});
const page = await browser.newPage();
// Any page of the server, without the gallery's script.
await page.route('**/main.ts', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
await page.goto(server.resolvedUrls.local[0]);

/** Has a demo's model answer its first sample whose address holds `which`. */
const ask = async (file, name, which, params = {}) =>
  await page.evaluate(
    async ({ file, name, which, params }) => {
      const demo = (await import(`/demos/${file}.ts`))[name];
      const { url } = demo.samples.find((one) => one.url.includes(which));
      const response = await fetch(url);
      const input = url.endsWith('.txt') ? (await response.text()).trim() : await response.blob();
      const model = await demo.load(demo.models[0], { signal: new AbortController().signal, onProgress: () => {} });
      const answer = await model.predict(input, { params });
      await model.dispose();
      return {
        url,
        text: typeof input === 'string' ? input : '',
        answer: answer.mask
          ? { ...answer, mask: [...answer.mask] }
          : answer.probabilities
            ? { ...answer, probabilities: [] }
            : answer,
      };
    },
    { file, name, which, params },
  );
const best = ({ text, answer: [{ label, score }] }) => ({
  ...(text && { text }),
  label,
  score: rounded(score),
});
const rounded = (value) => Math.round(value * 1000) / 1000;

const objects = await ask('detection', 'detection', '');
const photo = sharp(`${root}public/${objects.url}`);
const { width, height } = await photo.metadata();
await photo.resize({ width: 220 }).avif({ quality: 18, effort: 9 }).toFile(`${root}demo/home/objects.avif`);

const line = await ask('orientation', 'orientation', 'upside-down');
await sharp(`${root}public/${line.url}`)
  .resize({ width: 220 })
  .avif({ quality: 22, effort: 9 })
  .toFile(`${root}demo/home/line.avif`);

/** The gallery's clients and functions, for answers of another form than a demo's. */
const run = (work, ...args) =>
  page.evaluate(
    `import('/@fs${root}src/index.ts').then((tabserve) => (${work})(tabserve, ...${JSON.stringify(args)}))`,
  );

/** The line that is upside down, as the models for text in photos read it. */
const [read] = await run(async ({ load }, url) => {
  const client = await load('models/ocr/', { handler: 'text_reader' });
  const lines = await client.predict(await (await fetch(url)).blob());
  await client.dispose();
  return lines;
}, line.url);

/** The peaks of a recording, and its speech. */
const platform = 'models/vad/samples/platform.wav';
const voice = await run(async ({ load }, url) => {
  const client = await load('models/vad/', { handler: 'voice_activity_detector', backends: ['wasm'] });
  const { duration, segments } = await client.predict(await (await fetch(url)).blob());
  await client.dispose();
  return { duration, segments };
}, platform);
const samples = readFileSync(`${root}public/${platform}`).subarray(44);
const bars = 56;
const peaks = Array.from({ length: bars }, (_, bar) => {
  const [from, to] = [bar, bar + 1].map((at) => Math.floor((samples.length / 2 / bars) * at) * 2);
  let peak = 0;
  for (let at = from; at < to; at += 2) peak = Math.max(peak, Math.abs(samples.readInt16LE(at)));
  return peak;
});
const loudest = Math.max(...peaks);

/** The digit that the cards of Digits and Reasons show, and its heat map. */
const drawn = await ask('digits', 'digits', '');
await sharp(`${root}public/${drawn.url}`)
  .resize({ width: 140 })
  .webp({ quality: 40, effort: 6 })
  .toFile(`${root}demo/home/digit.webp`);
const heat = await run(async ({ load, paintHeatMap }, url) => {
  const client = await load('models/digits/', { handler: 'image_classifier' });
  const photo = await (await fetch(url)).blob();
  const { width, height, data } = paintHeatMap(await client.explain(photo, { baseline: 0 }));
  await client.dispose();
  return { width, height, data: [...data] };
}, drawn.url);
await sharp(Buffer.from(heat.data), { raw: { width: heat.width, height: heat.height, channels: 4 } })
  .resize({ width: 28 })
  .webp({ quality: 60, alphaQuality: 70, effort: 6 })
  .toFile(`${root}demo/home/heat.webp`);

/** How much two pictures are like a third one. */
const pictures = ['selfie/samples/astronaut.jpg', 'selfie/samples/grace-hopper.jpg', 'nanodet/samples/bar.jpg'];
const likeness = await run(
  async ({ cosineSimilarity, load }, urls) => {
    const client = await load('models/likeness/', { handler: 'image_feature_extractor' });
    const vectors = [];
    for (const url of urls) vectors.push(await client.predict(await (await fetch(url)).blob()));
    await client.dispose();
    return vectors.slice(1).map((vector) => cosineSimilarity(vectors[0], vector));
  },
  pictures.map((name) => `models/${name}`),
);

/** What the language model writes after a beginning. */
const beginning = 'Once upon a time';
const { text: written } = await run(async ({ load }, prompt) => {
  const client = await load('models/writer/', { handler: 'text_generator' });
  const answer = await client.predict(prompt, { params: { seed: 1, maxNewTokens: 12 } });
  await client.dispose();
  return answer;
}, beginning);

/** The same part of a small photo twice: on the left enlarged as browsers do, on the right by the model. */
const enlarged = await run(async ({ load }, url) => {
  const client = await load('models/upscaler/', { handler: 'image_to_image' });
  const { width, height, data } = await client.predict(await (await fetch(url)).blob());
  await client.dispose();
  return { width, height, data: [...data] };
}, 'models/upscaler/samples/astronaut.png');
const whole = { width: enlarged.width, height: enlarged.height };
const face = { left: 156, top: 36, width: 84, height: 112 };
const halves = [
  sharp(`${root}public/models/upscaler/samples/astronaut.png`).resize({ ...whole, kernel: 'linear' }),
  sharp(Buffer.from(enlarged.data), { raw: { ...whole, channels: 4 } }),
].map(async (picture) => {
  const pixels = await picture.ensureAlpha().png().toBuffer();
  return await sharp(pixels).extract(face).resize({ width: 180, kernel: 'nearest' }).png().toBuffer();
});
const enlargement = await sharp({ create: { width: 360, height: 240, channels: 4, background: '#000' } })
  .composite((await Promise.all(halves)).map((input, at) => ({ input, left: at * 180, top: 0 })))
  .png()
  .toBuffer();
await sharp(enlargement)
  .resize({ width: 216 })
  .avif({ quality: 28, effort: 9 })
  .toFile(`${root}demo/home/enlarged.avif`);

const { answer: person } = await ask('segmentation', 'segmentation', 'astronaut', { result: 'mask', size: 'model' });
const alpha = Buffer.from(
  person.mask.flatMap((share) => [0, 0, 0, Math.max(0, Math.min(255, ((share - 0.35) / 0.4) * 255))]),
);
await sharp(alpha, { raw: { width: person.width, height: person.height, channels: 4 } })
  .resize({ width: 96 })
  .webp({ quality: 1, alphaQuality: 40, effort: 6 })
  .toFile(`${root}demo/home/person.webp`);

/** The person in the frame that the first page begins with, at the place that its code names. */
const first = await page.evaluate(async () => {
  const { film } = await import('/home/film.ts');
  const { openSegmenter } = await import('/home/segmenter.ts');
  const nothing = () => {};
  const events = { progress: nothing, uploaded: nothing, recovered: nothing, failed: nothing };
  const moving = film();
  await moving.ready;
  moving.draw(1500);
  const segmenter = await openSegmenter(new AbortController().signal, events);
  const { width, height, data } = await segmenter.cut(await createImageBitmap(moving.canvas));
  segmenter.dispose();
  return { width, height, data: [...data] };
});
await sharp(Buffer.from(first.data), { raw: { width: first.width, height: first.height, channels: 4 } })
  .resize({ width: 160, height: 120, fit: 'fill' })
  .webp({ quality: 1, alphaQuality: 60, effort: 6 })
  .toFile(`${root}demo/home/first-frame.webp`);

/** A face with its points. */
const points = await run(async ({ FACE_CONNECTIONS, load, paintLandmarks }, url) => {
  const client = await load('models/face/', { handler: 'face_landmarker' });
  const bitmap = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  const [face] = await client.predict(bitmap);
  await client.dispose();
  canvas.drawImage(bitmap, 0, 0);
  Object.assign(canvas, { strokeStyle: '#4fd1a5', fillStyle: '#4fd1a5', lineWidth: bitmap.width / 260 });
  paintLandmarks(canvas, [face], FACE_CONNECTIONS);
  const { xmin, ymin, xmax, ymax } = face.box;
  const height = (ymax - ymin) * 1.5;
  const [left, top] = [(xmin + xmax) / 2 - height * 0.75, ymin - height * 0.2];
  return {
    left,
    top,
    width: height * 1.5,
    height,
    data: [...canvas.getImageData(left, top, height * 1.5, height).data],
  };
}, `models/${pictures[1]}`);
await sharp(Buffer.from(points.data), {
  raw: { width: Math.trunc(points.width), height: Math.trunc(points.height), channels: 4 },
})
  .resize({ width: 180 })
  .avif({ quality: 24, effort: 9 })
  .toFile(`${root}demo/home/face.avif`);

/** Milliseconds of a run on each candidate: the median of 20. */
const backends = await page.evaluate(async () => {
  const demo = (await import('/demos/orientation.ts')).orientation;
  const [sample] = demo.samples;
  const input = await (await fetch(sample.url)).blob();
  const measured = [];
  for (const candidate of ['onnx/wasm', 'tfjs/wasm', 'tfjs/cpu']) {
    const model = await demo.load(demo.models[0], {
      signal: new AbortController().signal,
      onProgress: () => {},
      backends: [candidate],
    });
    const times = [];
    model.on('response', ({ timings }) => times.push(timings.inference));
    for (let run = 0; run < 25; run++) await model.predict(input, { params: {} });
    await model.dispose();
    measured.push({ candidate, took: times.slice(5).toSorted((a, b) => a - b)[10] });
  }
  return { model: demo.models[0].name, measured };
});

/** What becomes of 1,000 requests a second, for five seconds. */
const serving = await page.evaluate(async () => {
  const [offered, seconds] = [1000, 5];
  const demo = (await import('/demos/digits.ts')).digits;
  const input = await (await fetch(demo.samples[0].url)).blob();
  const model = await demo.load(demo.models[0], { signal: new AbortController().signal, onProgress: () => {} });
  await model.predict(input, { params: {} });
  let [answered, refused, sent] = [0, 0, 0];
  const start = performance.now();
  while (sent < offered * seconds) {
    for (const due = ((performance.now() - start) / 1000) * offered; sent < Math.min(due, offered * seconds); sent++) {
      const refuse = ({ code }) => (refused += code === 'queue-full' ? 1 : 0);
      void model.predict(input, { params: {} }).then(() => (answered += 1), refuse);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const result = { offered, answered: answered / seconds, refused: refused / seconds };
  await model.dispose();
  return result;
});

const results = {
  objects: {
    ratio: rounded(width / height),
    found: objects.answer
      .filter(({ score }) => score > 0.5)
      .map(({ label, score, box: { xmin, ymin, xmax, ymax } }) => ({
        label,
        score: rounded(score),
        box: [xmin / width, ymin / height, (xmax - xmin) / width, (ymax - ymin) / height].map(rounded),
      })),
  },
  text: { text: read.text, score: rounded(read.score) },
  voice: {
    duration: rounded(voice.duration),
    peaks: peaks.map((peak) => Math.round((peak / loudest) * 100)),
    segments: voice.segments.map(({ start, end }) => [rounded(start), rounded(end)]),
  },
  likeness: likeness.map(rounded),
  language: best(await ask('language', 'language', '')),
  writing: beginning + written,
  digits: best(drawn),
  orientation: best(line),
  backends: {
    ...backends,
    measured: backends.measured.map(({ candidate, took }) => ({ candidate, took: rounded(took) })),
  },
  serving: Object.fromEntries(Object.entries(serving).map(([name, value]) => [name, Math.round(value)])),
};
writeFileSync(`${root}demo/home/results.json`, `${JSON.stringify(results, null, 2)}\n`);
console.log(results);
for (const file of [
  'objects.avif',
  'face.avif',
  'line.avif',
  'person.webp',
  'digit.webp',
  'heat.webp',
  'enlarged.avif',
  'first-frame.webp',
])
  console.log(file, readFileSync(`${root}demo/home/${file}`).length, 'bytes');
// The picture that goes with a link to the gallery.
const front = await browser.newPage({ viewport: { width: 1200, height: 630 }, reducedMotion: 'reduce' });
await front.goto(server.resolvedUrls.local[0]);
await front.getByRole('button', { name: 'Play' }).waitFor({ timeout: 60_000 });
await front.getByText('Kill the worker, and see what happens.').waitFor({ timeout: 60_000 });
await front.screenshot({ path: `${root}demo/share.jpg`, type: 'jpeg', quality: 82 });

await browser.close();
await server.close();
