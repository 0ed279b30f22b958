import type { PipelineTask } from './calls.js';
import type { Task } from './call.js';
import { MEDIA_TASKS } from './media-tasks.js';
import { TEXT_TASKS } from './text-tasks.js';

/** The tasks of pipelines. */
export const TASKS: Readonly<Record<PipelineTask, Task>> = { ...TEXT_TASKS, ...MEDIA_TASKS };

/** Other names of tasks, as transformers.js has them. */
export const ALIASES = {
  asr: 'automatic-speech-recognition',
  ner: 'token-classification',
  'sentiment-analysis': 'text-classification',
  'text-to-speech': 'text-to-audio',
} as const;
