/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const DETECTION = {
  object_detector: {
    load: async () => (await import('./object-detector.js')).ObjectDetector,
    takes: 'image',
    architectures: ['ForObjectDetection'],
    processor: 'image',
    hasClasses: true,
    nearest: [
      { order: 50, reads: 'images', main: {}, hasBoxes: true },
      { order: 52, reads: 'images', main: { rank: 3, isDetections: true } },
    ],
    ultralytics: 'detect',
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
