import type { PipelineTask } from './calls.js';
import type { Task } from './call.js';
import { MEDIA_TASKS } from './media-tasks.js';
import { TEXT_TASKS } from './text-tasks.js';

/** The tasks of pipelines. */
export const TASKS: Readonly<Record<PipelineTask, Task>> = { ...TEXT_TASKS, ...MEDIA_TASKS };
