/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const TRANSCRIPTION = {
  speech_to_text: {
    load: async () => (await import('./speech-to-text.js')).SpeechToText,
    takes: 'audio',
    architectures: ['WhisperForConditionalGeneration', 'MoonshineForConditionalGeneration'],
    processor: 'tokenizer',
    nodes: { encoder: ['encoder_model'], decoder: ['decoder_model_merged'] },
    generates: true,
    files: ['generation_config.json', 'preprocessor_config.json', 'config.json'],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
