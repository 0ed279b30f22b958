import { readFileSync, writeFileSync } from 'node:fs';
import { byFetch, inNode, inTab, onServer, type Answers, type Asked, type Case } from './everywhere.ts';
import { expect, test } from './fixtures.ts';

/**
 * One table: handlers of each kind of input and of answer wherever they run, compared with WASM in a tab. What is
 * measured must be within what docs/where-it-runs.md says; with `UPDATE=1`, the table is written there instead.
 */
const DOCS = new URL('../../docs/where-it-runs.md', import.meta.url);
const TABLE = /(?<=<!-- measured -->\n)[^]*?(?=<!-- \/measured -->)/;

const texts = (...all: string[]): Asked[] => all.map((text) => ({ text }));
const files = (folder: string, ...names: string[]): Asked[] => names.map((name) => ({ file: `${folder}${name}` }));
/** Over HTTP, handlers answer in this form. */
const config = { handler: { result: 'torchserve' } };
const samples = (model: string, ...names: string[]): Case => ({
  model: `/models/${model}/`,
  inputs: files(`/models/${model}/samples/`, ...names),
});

/**
 * An archive of each of ten handlers, and three inputs. Where a handler runs makes a difference to how inputs are read,
 * to engines and to how answers are sent; no other handler does that in another way. `coverage.spec.ts` and
 * `repositories.spec.ts` ask all tasks, in a tab and under Node.
 */
const CASES: Readonly<Record<string, Case>> = {
  base_handler: {
    model: '/test/models/proof/two_formats/',
    inputs: [
      [1, 2, 3, 4],
      [0, -1, 0.5, 3],
      [0.001, 7, -7, 0],
    ].map((tensor) => ({ tensor, dims: [1, 4], name: 'x' })),
  },
  image_classifier: { config, ...samples('digits', 'digit-0.png', 'drawn-3.png', 'paper-2.png') },
  object_detector: { config, ...samples('nanodet', 'cat.jpg', 'coffee.jpg', 'rocket.jpg') },
  image_segmenter: { config, ...samples('selfie', 'astronaut.jpg', 'grace-hopper.jpg', 'rocket.jpg') },
  image_to_image: {
    model: '/models/upscaler/',
    inputs: files('/test/goldens/segmenter/', '16x12.png', '23x17.png', '30x11.png'),
  },
  image_feature_extractor: {
    model: '/models/likeness/',
    inputs: files('/models/nanodet/samples/', 'cat.jpg', 'coffee.jpg', 'rocket.jpg'),
  },
  text_classifier: {
    model: '/models/languages/',
    config,
    inputs: texts('Der Zug fährt um acht Uhr ab.', 'A quiet street.', 'これは何ですか'),
  },
  text_feature_extractor: {
    model: '/test/models/features/text/',
    inputs: texts('Hello, world!', 'a', 'Straße, GROẞ, weiß'),
  },
  voice_activity_detector: {
    model: '/models/vad/',
    inputs: [
      ...files('/models/vad/samples/', 'fan.wav'),
      ...files('/test/models/vad/', 'telephone-8k.wav', 'stereo-48k.wav'),
    ],
  },
  text_reader: {
    served: ['detect', 'orient', 'recognize'].map((node) => `/models/ocr/${node}/`),
    // The detector sees a smaller photo: a GPU in software then takes two minutes for one.
    config: {
      nodes: {
        detect: { archive: 'detect/', config: { handler: { limitSide: 320 } } },
        orient: 'orient/',
        recognize: 'recognize/',
      },
    },
    ...samples('ocr', 'sign.webp', 'ticket.jpg', 'notice.jpg'),
  },
};

const PLACES = {
  'tab, WebGL': inTab('webgl'),
  'tab, WebGPU': inTab('webgpu'),
  Node: inNode,
  remote: onServer,
  fetch: byFetch,
};

test('handlers of each kind answer alike wherever they run @once @long', async ({ baseURL }) => {
  test.setTimeout(3_600_000);
  const rows: string[][] = [];
  for (const [handler, asked] of Object.entries(CASES)) {
    const reference = await inTab('wasm')(baseURL!, asked);
    if ('refused' in reference) throw new Error(`${handler}: ${reference.refused}`);
    const cells: string[] = [];
    for (const [place, ask] of Object.entries(PLACES)) {
      const answers = await ask(baseURL!, asked);
      cells.push(cellOf(reference, answers));
      console.log(`${handler}, ${place}: ${cells.at(-1)}${'refused' in answers ? ` (${answers.refused})` : ''}`);
    }
    rows.push([`\`${handler}\``, ...cells]);
  }
  const head = ['Handler', ...Object.keys(PLACES)];
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  const docs = readFileSync(DOCS, 'utf8');
  if (process.env['UPDATE']) return writeFileSync(DOCS, docs.replace(TABLE, `\n${table}\n`));
  const said = TABLE.exec(docs)![0].trim().split('\n').slice(2);
  for (const [index, row] of rows.entries()) {
    const limits = said[index]!.split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    expect.soft(limits[0]).toBe(row[0]);
    for (const [at, cell] of row.entries())
      if (at > 0)
        expect
          .soft(isWithin(cell, limits[at]!), `${row[0]}, ${head[at]}: ${cell}, in the docs ${limits[at]}`)
          .toBe(true);
  }
});

/**
 * The largest difference, rounded up to a power of ten; `refused` if the place cannot run the model, or was proven
 * wrong.
 */
function cellOf(reference: Answers, answers: Answers): string {
  if ('refused' in answers) return 'refused';
  const most = difference((reference as { answers: readonly unknown[] }).answers, answers.answers);
  return most === 0 ? '0' : `10^${Math.ceil(Math.log10(most))}`;
}

function isWithin(cell: string, limit: string): boolean {
  return cell === limit || valueOf(cell) <= valueOf(limit);
}

function valueOf(cell: string): number {
  const [, exponent] = /^10\^(-?\d+)$/.exec(cell) ?? [];
  return exponent === undefined ? Number(cell) : 10 ** Number(exponent);
}

/** The largest difference of two numbers in the same place; infinite if anything else differs. */
function difference(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return Object.is(one, other) ? 0 : Math.abs(one - other);
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return one === other ? 0 : Infinity;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return Infinity;
  let most = 0;
  for (const key of keys) most = Math.max(most, difference((one as Never)[key], (other as Never)[key]));
  return most;
}
type Never = Record<string, unknown>;
