/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const WRITING = {
  image_text_to_text: {
    load: async () => (await import('./image-text-to-text.js')).ImageTextToText,
    takes: 'image-or-text',
    architectures: [
      'Idefics3ForConditionalGeneration',
      'SmolVLMForConditionalGeneration',
      'Qwen2VLForConditionalGeneration',
      'Qwen2_5_VLForConditionalGeneration',
      'Qwen3VLForConditionalGeneration',
      'Lfm2VlForConditionalGeneration',
    ],
    processor: 'tokenizer',
    models: ['decoder_model_merged'],
    beside: { embed_tokens: ['embed_tokens'], vision_encoder: ['vision_encoder'] },
    generates: true,
    files: [
      'generation_config.json',
      'chat_template.jinja',
      'additional_chat_templates/tool_use.jinja',
      'config.json',
      'preprocessor_config.json',
      'processor_config.json',
    ],
    nearest: [],
  },
  image_to_text: {
    load: async () => (await import('./image-to-text.js')).ImageToText,
    takes: 'image',
    architectures: ['VisionEncoderDecoderModel'],
    processor: 'both',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'config.json'],
  },
  text_generator: {
    load: async () => (await import('./text-generator.js')).TextGenerator,
    takes: 'text',
    architectures: ['ForCausalLM', 'LMHeadModel'],
    processor: 'tokenizer',
    models: ['model', 'decoder_model_merged'],
    beside: { embed_tokens: ['embed_tokens'] },
    generates: true,
    files: ['generation_config.json', 'chat_template.jinja', 'additional_chat_templates/tool_use.jinja', 'config.json'],
    nearest: [{ order: 190, reads: 'texts', input: 'past_key_values', main: { rank: 3 } }],
  },
  text_to_text: {
    load: async () => (await import('./text-to-text.js')).TextToText,
    takes: 'text',
    architectures: ['ForConditionalGeneration', 'MarianMTModel'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'config.json'],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
