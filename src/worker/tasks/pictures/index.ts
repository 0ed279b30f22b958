/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const PICTURES = {
  image_classifier: {
    load: async () => (await import('./image-classifier.js')).ImageClassifier,
    takes: 'image',
    architectures: ['ForImageClassification', 'ForImageClassificationWithTeacher'],
    processor: 'image',
    hasClasses: true,
    nearest: [
      { order: 130, reads: 'images', main: { rank: 2, isLogits: true } },
      {
        order: 132,
        reads: 'images',
        main: {
          rank: 2,
          name: [
            'softmax',
            'softmax_tmp',
            'gpu_softmax',
            'softmaxout',
            'probabilities',
            'probability',
            'probs',
            'prob',
          ],
        },
      },
      { order: 134, reads: 'images', main: { rank: 2, name: ['output', 'predictions', 'fetch_name'], isOnly: true } },
    ],
    ultralytics: 'classify',
  },
  image_feature_extractor: {
    load: async () => (await import('./image-feature-extractor.js')).ImageFeatureExtractor,
    takes: 'image',
    architectures: ['VisionModelWithProjection'],
    processor: 'image',
    files: ['config.json'],
    nearest: [
      { order: 80, reads: 'images', main: { rank: 4, isLogits: false, name: ['last_hidden_state', 'hidden_state'] } },
      { order: 140, reads: 'images', main: { rank: 2 } },
      { order: 150, reads: 'images', main: { rank: 3 } },
    ],
  },
  image_to_image: {
    load: async () => (await import('./image-to-image.js')).ImageToImage,
    takes: 'image',
    architectures: ['ForImageSuperResolution'],
    processor: 'image',
    nearest: [{ order: 100, reads: 'images', main: { rank: 4, isLogits: false, channels: 3 } }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
