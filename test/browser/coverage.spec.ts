/**
 * Every task, by its repositories' URLs alone: tiny models of real architectures with random weights, against
 * transformers' pipelines in Python (`test/models/tasks/make.py`). `npm run coverage` runs all of it and prints a table.
 */
import { readdirSync } from 'node:fs';
import { differenceOf } from './answers.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';
import type * as Pages from './pages/answers.ts';

declare const answers: typeof Pages.answers;

/** What `make.py` writes of a task. */
interface Task {
  /** The handler that must be found. */
  readonly handler: string;
  readonly rows: readonly {
    /** The class in transformers. */
    readonly architecture: string;
    /** The folder's name. */
    readonly repository: string;
    /** The option `handler`, if another handler serves the architecture. */
    readonly handler?: string;
    /** On which backends it runs besides WASM, here. */
    readonly gpu?: readonly ('webgl' | 'webgpu')[];
    readonly requests: readonly {
      readonly input: unknown;
      readonly params?: Readonly<Record<string, unknown>>;
      readonly answer: unknown;
      /** How much a number may differ, in units of 1 or of its own size, whichever is larger. Default: 1e-4 */
      readonly tolerance?: number;
    }[];
  }[];
}

const FOLDER = new URL('../models/tasks/', import.meta.url);
const TASKS = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

/** The task whose first row `npm test` runs on GPUs, too. */
const ON_GPUS = 'image_classifier';

for (const file of TASKS) {
  const { handler, rows } = readGoldens<Task>(`../models/tasks/${file}`);
  for (const [index, { architecture, repository, requests, handler: option, gpu = [] }] of rows.entries())
    test(`${handler}: ${architecture} (${repository})${index > 0 ? ' @full' : handler === ON_GPUS ? '' : ' @wasm'}`, async ({
      page,
      backend,
    }, { annotations }) => {
      test.skip(
        backend !== 'wasm' && !gpu.includes(backend),
        'a tenth of the rows runs on a GPU in software; of WebGL, those that ONNX Runtime computes there',
      );
      await page.goto('/test/browser/pages/answers.html');
      await page.waitForFunction(() => 'answers' in window);
      const given = await page.evaluate(
        async ({ url, backend, requests, option }) => await answers.ask(url, `onnx/${backend}`, requests, option),
        { url: `/test/models/tasks/${repository}/`, backend, requests, option },
      );
      expect(given.handler).toBe(handler);
      const found = requests.filter(({ answer }) => !(Array.isArray(answer) && answer.length === 0));
      expect(found.length, 'a row that mostly finds nothing proves nothing').toBeGreaterThan(requests.length / 2);
      const differences = requests.map(({ answer, tolerance = 1e-4 }, at) => {
        const { wrong, largest } = differenceOf(given.answers[at], answer);
        expect(wrong, `request ${at}: ${JSON.stringify(given.answers[at]).slice(0, 2000)}`).toBeUndefined();
        expect(largest, `request ${at}`).toBeLessThanOrEqual(tolerance);
        return largest;
      });
      annotations.push({ type: 'coverage', description: String(Math.max(...differences)) });
    });
}
