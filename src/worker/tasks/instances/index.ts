/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const INSTANCES = {
  instance_segmenter: {
    load: async () => (await import('./instance-segmenter.js')).InstanceSegmenter,
    takes: 'image',
    architectures: ['ForUniversalSegmentation', 'ForInstanceSegmentation', 'DetrForSegmentation'],
    processor: 'image',
    readsTexts: ['OneFormerForUniversalSegmentation'],
    hasClasses: true,
    nearest: [
      { order: 40, reads: 'images', main: {}, outputs: [['pred_masks', 'masks_queries_logits']] },
      { order: 42, reads: 'images', main: { rank: 3, isDetections: true }, outputs: ['output1'] },
    ],
    ultralytics: 'segment',
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
