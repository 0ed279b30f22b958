import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { build, runnerImport } from 'vite';
import { serve } from './lib/server.mjs';
const here = (p) => fileURLToPath(new URL(p, import.meta.url));
process.env.NODE_ENV = 'production';
if (!process.env.NOBUILD) await build({ configFile: here('vite.config.ts'), logLevel: 'error' });
const { module } = await runnerImport(here('../scripts/chromium.ts'), { configFile: false, logLevel: 'error' });
const server = await serve({ '/': here('../.cache/bench'), '/model/': here('model'), '/ort/': here('node_modules/onnxruntime-web/dist') });
const browser = await chromium.launch({ args: [...module.chromiumArgs.wasm], executablePath: module.chromiumPath });
const page = await browser.newPage();
await page.goto(server.url);
await page.evaluate(async () => (await globalThis.bench).makePhoto(640, 480));
const med = (a) => {
  const s = [...a].sort((x, y) => x - y);
  return s[s.length >> 1];
};
for (let i = 0; i < Number(process.env.N ?? 4); i++) {
  const { times, stages } = await page.evaluate(async () => (await globalThis.bench).time('tensor', { rounds: 250, warmUps: 150, paused: false }));
  const d = (a, b) => med(times[a].map((v, k) => v - times[b][k]));
  const st = Object.fromEntries(['preprocess', 'inference', 'postprocess'].map((k) => [k, med(stages.oursTensor.map((s) => s[k])).toFixed(3)]));
  console.log(
    'raw',
    med(times.raw).toFixed(3),
    'ours-raw',
    d('oursTensor', 'raw').toFixed(3),
    'plain-raw',
    d('plainWorker', 'raw').toFixed(3),
    'ours-plain',
    d('oursTensor', 'plainWorker').toFixed(3),
    JSON.stringify(st),
  );
}
await browser.close();
server.close();
