/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const ZERO_SHOT = {
  image_text_embedder: {
    load: async () => (await import('./image-text-embedder.js')).ImageTextEmbedder,
    takes: 'image-or-text',
    processor: 'both',
    nodes: { vision: ['vision_model'], text: ['text_model'] },
    nodeProcessors: { vision: 'image', text: 'tokenizer' },
  },
  zero_shot_image_classifier: {
    load: async () => (await import('./zero-shot-image-classifier.js')).ZeroShotImageClassifier,
    takes: 'image',
    architectures: ['CLIPModel', 'MetaClip2Model', 'SiglipModel'],
    processor: 'both',
    nearest: [{ order: 10, reads: 'images-and-texts', outputs: ['logits_per_image'] }],
  },
  zero_shot_object_detector: {
    load: async () => (await import('./zero-shot-object-detector.js')).ZeroShotObjectDetector,
    takes: 'image',
    architectures: ['OwlViTForObjectDetection', 'Owlv2ForObjectDetection', 'GroundingDinoForObjectDetection'],
    processor: 'both',
    nearest: [{ order: 20, reads: 'images-and-texts', main: {}, hasBoxes: true }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
