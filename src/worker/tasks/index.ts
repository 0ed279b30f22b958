/** All tasks, and the handlers that they extend: made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../contract/task.js';
import type { AudioHandler } from '../handlers/audio-handler.js';
import type { BaseHandler } from '../handlers/base-handler.js';
import type { TextHandler } from '../handlers/text-handler.js';
import type { VisionHandler } from '../handlers/vision-handler.js';
import { DETECTION } from './detection/index.js';
import { INSTANCES } from './instances/index.js';
import { OCR } from './ocr/index.js';
import { PEOPLE } from './people/index.js';
import { PICTURES } from './pictures/index.js';
import { PROMPTED } from './prompted/index.js';
import { SEGMENTATION } from './segmentation/index.js';
import { SOUNDS } from './sounds/index.js';
import { SPEAKERS } from './speakers/index.js';
import { SPEECH } from './speech/index.js';
import { TEXTS } from './texts/index.js';
import { TRACKING } from './tracking/index.js';
import { TRANSCRIPTION } from './transcription/index.js';
import { VOICES } from './voices/index.js';
import { WRITING } from './writing/index.js';
import { ZERO_SHOT } from './zero-shot/index.js';

/** By the handler's name. */
export const BUILT_IN = {
  audio_handler: {
    load: async (): Promise<new () => AudioHandler> => (await import('../handlers/audio-handler.js')).AudioHandler,
    takes: 'audio',
  },
  base_handler: {
    load: async (): Promise<new () => BaseHandler> => (await import('../handlers/base-handler.js')).BaseHandler,
    takes: 'tensors',
  },
  graph_workflow: {
    load: async () => (await import('../handlers/graph-workflow.js')).GraphWorkflow,
    takes: 'tensors',
  },
  text_handler: {
    load: async (): Promise<new () => TextHandler> => (await import('../handlers/text-handler.js')).TextHandler,
    takes: 'text',
    processor: 'tokenizer',
  },
  vision_handler: {
    load: async (): Promise<new () => VisionHandler> => (await import('../handlers/vision-handler.js')).VisionHandler,
    takes: 'image',
    processor: 'image',
  },
  ...DETECTION,
  ...INSTANCES,
  ...OCR,
  ...PEOPLE,
  ...PICTURES,
  ...PROMPTED,
  ...SEGMENTATION,
  ...SOUNDS,
  ...SPEAKERS,
  ...SPEECH,
  ...TEXTS,
  ...TRACKING,
  ...TRANSCRIPTION,
  ...VOICES,
  ...WRITING,
  ...ZERO_SHOT,
} as const satisfies Readonly<Record<string, TaskDescriptor>>;

/** The same, for any name. */
export const TASKS: Readonly<Record<string, TaskDescriptor>> = BUILT_IN;
