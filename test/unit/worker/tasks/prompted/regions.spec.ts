// Regions and prompts, against transformers' Florence2Processor (test/goldens/florence/make.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { readTask } from '../../../../../src/worker/tasks/prompted/prompt-tasks.ts';
import { regionsOf, writeBox } from '../../../../../src/worker/tasks/prompted/regions.ts';

const { answers, boxes, prompts } = JSON.parse(
  readFileSync(new URL('../../../../goldens/florence/regions.json', import.meta.url), 'utf8'),
) as {
  readonly answers: readonly {
    readonly task: string;
    readonly text: string;
    readonly size: readonly [number, number];
    readonly regions: readonly object[] | null;
  }[];
  readonly boxes: readonly { readonly box: readonly [number, number, number, number]; readonly places: string }[];
  readonly prompts: readonly { readonly prompt: string; readonly words: string }[];
};
/** As `prompted_image_to_text.py` bans them. */
const BANNED = new Set(['it', 'the image', 'they']);
/** What tasks need, so that they can be read. */
const REST = /GROUNDING|DETECTION|EXPRESSION/;

test('regions are those of transformers, of whole answers and of damaged ones', () => {
  expect(answers.length).toBeGreaterThan(200);
  for (const { task, text, size, regions } of answers) {
    const [width, height] = size;
    const { kind } = readTask(REST.test(task) ? `${task}cat` : task, undefined);
    expect(regionsOf(text, kind, { width, height }, BANNED) ?? null, `${task} ${text}`).toEqual(regions);
  }
});

test("boxes are written, and prompts are worded, as the model's processor does", () => {
  for (const { box, places } of boxes) expect(writeBox(box, { width: 640, height: 480 }), String(box)).toBe(places);
  for (const { prompt, words } of prompts) expect(readTask(prompt, undefined).words).toBe(words);
  const place = '<loc_1><loc_2><loc_3><loc_4>';
  expect(readTask('<REGION_TO_OCR>', place).words).toBe(`What text is in the region ${place}?`);
});

test('a task that is unknown, or lacks what it needs, is told with what to do', () => {
  expect(() => readTask('<ODD>', undefined)).toThrow(/<ODD> is no task of the model\. Its tasks are <CAPTION>, /);
  expect(() => readTask('<OD>cat', undefined)).toThrow('<OD> takes nothing beside it');
  expect(() => readTask('<OD>', '<loc_1><loc_2><loc_3><loc_4>')).toThrow('Leave out the text after it, and box');
  expect(() => readTask('<REGION_TO_OCR>', undefined)).toThrow('Pass it as box: [xmin, ymin, xmax, ymax] in pixels');
  expect(() => readTask('<OPEN_VOCABULARY_DETECTION> ', undefined)).toThrow('needs what it looks for after it');
  expect(() => readTask('What is it?', '<loc_1><loc_2><loc_3><loc_4>')).toThrow("begins with no task's name");
});
