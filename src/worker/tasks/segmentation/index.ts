/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const SEGMENTATION = {
  background_remover: {
    load: async () => (await import('./background-remover.js')).BackgroundRemover,
    takes: 'image',
    architectures: ['BriaRMBG', 'BiRefNet', 'MODNet', 'ISNet', 'ISNetDIS', 'U2NET', 'U2Net', 'ForImageSegmentation'],
    modelTypes: ['modnet', 'birefnet', 'isnet', 'u2net'],
    processor: 'image',
    nearest: [{ order: 90, reads: 'images', main: { rank: 4, isLogits: false, channels: 1 } }],
  },
  depth_estimator: {
    load: async () => (await import('./depth-estimator.js')).DepthEstimator,
    takes: 'image',
    architectures: ['ForDepthEstimation'],
    processor: 'image',
    nearest: [{ order: 60, reads: 'images', outputs: ['predicted_depth'] }],
  },
  image_segmenter: {
    load: async () => (await import('./image-segmenter.js')).ImageSegmenter,
    takes: 'image',
    architectures: ['ForSemanticSegmentation'],
    processor: 'image',
    hasClasses: true,
    nearest: [{ order: 110, reads: 'images', main: { rank: 4 } }],
  },
  promptable_segmenter: {
    load: async () => (await import('./promptable-segmenter.js')).PromptableSegmenter,
    takes: 'image',
    architectures: [
      'SamModel',
      'Sam2Model',
      'Sam2VideoModel',
      'Sam3TrackerModel',
      'Sam3TrackerVideoModel',
      'EdgeTamModel',
      'EdgeTamVideoModel',
    ],
    processor: 'image',
    nodes: { vision: ['vision_encoder'], decoder: ['prompt_encoder_mask_decoder'] },
    nodeProcessors: { vision: 'image' },
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
