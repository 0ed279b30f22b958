/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const PROMPTED = {
  prompted_image_to_text: {
    load: async () => (await import('./prompted-image-to-text.js')).PromptedImageToText,
    takes: 'image',
    architectures: ['Florence2ForConditionalGeneration'],
    processor: 'both',
    nodes: {
      vision_encoder: ['vision_encoder'],
      embed_tokens: ['embed_tokens'],
      encoder: ['encoder_model'],
      decoder: ['decoder_model_merged'],
    },
    generates: true,
    files: ['generation_config.json', 'config.json', 'preprocessor_config.json', 'processor_config.json'],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
