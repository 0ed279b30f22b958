// The samples of docs/methods run: each page of a method shows one.
import { readdirSync } from 'node:fs';
import { expect, test } from './fixtures.ts';

const DIGIT = '<img src="/models/digits/samples/drawn-3.png" alt="a drawn three">';
const VIDEO = '<video muted></video>';

/** What each sample logs, with what its page has. */
const SAMPLES: Readonly<
  Record<string, { readonly lines: readonly unknown[]; readonly body?: string; readonly filmed?: string }>
> = {
  load: { lines: ['German'] },
  connect: { lines: [undefined, 'onnx'] },
  'client-on': { lines: [expect.stringMatching(/^onnx\/\w+$/)] },
  'client-initialize': { lines: [expect.stringMatching(/^\d+ of \d+ bytes$/)] },
  'client-predict': { lines: [{ label: 'German', score: expect.closeTo(0.96, 2) }] },
  'client-keep': { lines: [['three'], ['three', expect.any(String), expect.any(String)]], body: DIGIT },
  'client-open-sequence': { lines: [0, 0] },
  'client-handle': { lines: ['German', 'Spanish'] },
  'client-infer': { lines: ['float32', [1, 10]] },
  'client-stream': { lines: [true] },
  'client-frames': {
    lines: [expect.stringMatching(/^three at \d+ ms$/)],
    body: VIDEO,
    filmed: '/models/digits/samples/drawn-3.png',
  },
  'client-explain': { lines: ['German', 5] },
  'client-describe': { lines: ['languages', 'text_classifier', expect.any(String), 1] },
  'client-ping': { lines: [true] },
  'client-diagnose': { lines: [true] },
  'client-dispose': { lines: ['disposed'] },
  'sequence-predict': { lines: [[]] },
  'sequence-frames': { lines: [['cat 1']], body: VIDEO, filmed: '/models/nanodet/samples/cat.jpg' },
  'sequence-end': { lines: ['ended'] },
  'server-register': { lines: [{ name: 'digits', version: '1.0' }] },
  'server-scale': { lines: [2] },
  'server-reload': { lines: [true] },
  'server-set-default': { lines: ['2.0'] },
  'server-unregister': { lines: [[]] },
  'server-snapshot': { lines: [true] },
  'server-restore': { lines: ['lost', 'model-not-found'] },
  'server-list': { lines: [[{ name: 'languages', defaultVersion: '1.0', versions: ['1.0'] }]] },
  'server-describe': { lines: ['text_classifier', true, 0] },
  'server-predict': { lines: ['German'] },
  'server-shadow': { lines: [4, 0] },
  'server-fetch': { lines: [200, true] },
  'server-dispose': { lines: ['disposed'] },
};

test('every page of a method has a sample, which has a test @once', () => {
  const names = (folder: string, ending: string): readonly string[] =>
    readdirSync(new URL(`../../${folder}`, import.meta.url))
      .map((name) => name.replace(ending, ''))
      .toSorted();
  expect(names('test/readme/methods', '.ts')).toEqual(Object.keys(SAMPLES).toSorted());
  expect(names('docs/methods', '.md')).toEqual(Object.keys(SAMPLES).toSorted());
});

for (const [name, { lines, body = '', filmed }] of Object.entries(SAMPLES))
  test(`methods/${name}.ts @once @full`, async ({ page }) => {
    await page.goto('/test/browser/pages/readme.html');
    await page.setContent(body);
    if (filmed) await page.evaluate(film, filmed);
    const logged = await page.evaluate(async (path) => {
      await Promise.all(Array.from(document.images, (image) => image.decode()));
      const values: unknown[] = [];
      const { log } = console;
      console.log = (...line) => void values.push(...line.map((one) => structuredClone(one)));
      try {
        await import(path);
        return values;
      } finally {
        console.log = log;
      }
    }, `/test/readme/methods/${name}.ts`);
    // A log of progress may have several lines.
    expect(name === 'client-initialize' ? logged.slice(-1) : logged).toEqual(lines);
  });

/** Shows a photo in the page's video, as a camera would. */
async function film(url: string): Promise<void> {
  const photo = new Image();
  photo.src = url;
  await photo.decode();
  const canvas = Object.assign(document.createElement('canvas'), { width: photo.width, height: photo.height });
  const context = canvas.getContext('2d')!;
  setInterval(() => context.drawImage(photo, 0, 0), 20);
  context.drawImage(photo, 0, 0);
  const video = document.querySelector('video')!;
  video.srcObject = canvas.captureStream();
  await video.play();
}
