/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const OCR = {
  text_detector: {
    load: async () => (await import('./text-detector.js')).TextDetector,
    takes: 'image',
    nearest: [
      {
        order: 84,
        reads: 'images',
        input: 'x',
        main: { rank: 4, channels: 1, name: ['sigmoid', 'sigmoid_tmp', 'fetch_name'] },
      },
    ],
  },
  text_orienter: {
    load: async () => (await import('./text-orienter.js')).TextOrienter,
    takes: 'image',
  },
  text_reader: {
    load: async () => (await import('./text-reader.js')).TextReader,
    takes: 'image',
  },
  text_recognizer: {
    load: async () => (await import('./text-recognizer.js')).TextRecognizer,
    takes: 'image',
    nearest: [
      { order: 86, reads: 'images', input: 'x', main: { rank: 3, name: ['softmax', 'softmax_tmp', 'fetch_name'] } },
    ],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
