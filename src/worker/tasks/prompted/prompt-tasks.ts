/** What Florence-2 can be asked: the tasks that its prompts begin with, and what they are in words. */
import { invalidInput } from '../../../contract/errors.js';

/** How an answer is read. */
export type AnswerKind =
  | 'text'
  | 'boxes'
  | 'named boxes'
  | 'phrases'
  | 'lines'
  | 'outlines'
  | 'named boxes or outlines';

interface PromptTask {
  /** The words that the model was trained with. `{}` stands for the rest of the prompt. */
  readonly words: string;
  readonly kind: AnswerKind;
}

const INPUT = '{}';

/** By the name that a prompt begins with. All of it is that of transformers' Florence2Processor. */
const TASKS: Readonly<Record<string, PromptTask>> = {
  '<CAPTION>': { words: 'What does the image describe?', kind: 'text' },
  '<DETAILED_CAPTION>': { words: 'Describe in detail what is shown in the image.', kind: 'text' },
  '<MORE_DETAILED_CAPTION>': { words: 'Describe with a paragraph what is shown in the image.', kind: 'text' },
  '<OCR>': { words: 'What is the text in the image?', kind: 'text' },
  '<OCR_WITH_REGION>': { words: 'What is the text in the image, with regions?', kind: 'lines' },
  '<OD>': { words: 'Locate the objects with category name in the image.', kind: 'named boxes' },
  '<DENSE_REGION_CAPTION>': {
    words: 'Locate the objects in the image, with their descriptions.',
    kind: 'named boxes',
  },
  '<REGION_PROPOSAL>': { words: 'Locate the region proposals in the image.', kind: 'boxes' },
  '<CAPTION_TO_PHRASE_GROUNDING>': { words: 'Locate the phrases in the caption: {}', kind: 'phrases' },
  '<OPEN_VOCABULARY_DETECTION>': { words: 'Locate {} in the image.', kind: 'named boxes or outlines' },
  '<REFERRING_EXPRESSION_SEGMENTATION>': { words: 'Locate {} in the image with mask', kind: 'outlines' },
  '<REGION_TO_SEGMENTATION>': { words: 'What is the polygon mask of region {}', kind: 'outlines' },
  '<REGION_TO_CATEGORY>': { words: 'What is the region {}?', kind: 'text' },
  '<REGION_TO_DESCRIPTION>': { words: 'What does the region {} describe?', kind: 'text' },
  '<REGION_TO_OCR>': { words: 'What text is in the region {}?', kind: 'text' },
};

/** The task of a prompt, in words. */
export interface ReadTask {
  readonly words: string;
  readonly kind: AnswerKind;
}

/**
 * Returns what a prompt asks for. One that begins with no task's name is asked as it is.
 * @param region of the image, as the model writes it; undefined if the request has none
 * @throws `invalid-input` for a task that is unknown, or without what it asks about, or with what it takes not
 */
export function readTask(prompt: string, region: string | undefined): ReadTask {
  const name = /^\s*(<[A-Z_]+>)/.exec(prompt)?.[1];
  if (name === undefined) {
    if (region === undefined) return { words: prompt, kind: 'text' };
    throw invalidInput(
      `box: it is part of a task's prompt, such as <REGION_TO_CATEGORY>. This prompt begins with no task's name.`,
    );
  }
  const task = Object.hasOwn(TASKS, name) ? TASKS[name]! : undefined;
  if (!task)
    throw invalidInput(`prompt: ${name} is no task of the model. Its tasks are ${Object.keys(TASKS).join(', ')}.`);
  const { words, kind } = task;
  const rest = prompt.trim().slice(name.length).trim() + (region ?? '');
  if (!words.includes(INPUT)) {
    if (rest === '') return task;
    throw invalidInput(`prompt: ${name} takes nothing beside it. Leave out the text after it, and box.`);
  }
  if (rest !== '') return { words: words.replace(INPUT, () => rest), kind };
  throw invalidInput(
    name.startsWith('<REGION_')
      ? `prompt: ${name} is about a region of the image. Pass it as box: [xmin, ymin, xmax, ymax] in pixels.`
      : `prompt: ${name} needs what it looks for after it, such as "${name}a green car".`,
  );
}
