/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const TRACKING = {
  object_tracker: {
    load: async () => (await import('./object-tracker.js')).ObjectTracker,
    takes: 'image',
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
