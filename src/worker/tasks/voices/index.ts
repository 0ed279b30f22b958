/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const VOICES = {
  text_to_speech: {
    load: async () => (await import('./text-to-speech.js')).TextToSpeech,
    takes: 'text',
    architectures: ['VitsModel', 'SpeechT5ForTextToSpeech', 'StyleTextToSpeech2Model'],
    modelTypes: ['vits', 'style_text_to_speech_2'],
    models: ['model', 'decoder_model_merged'],
    beside: { encoder: ['encoder_model'], vocoder: ['decoder_postnet_and_vocoder'] },
    divided: ['SpeechT5ForTextToSpeech'],
    besideModel: ['.json'],
    files: [
      'config.json',
      'vocab.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'special_tokens_map.json',
      'added_tokens.json',
      'speaker_embeddings.bin',
    ],
    nearest: [
      { order: 36, reads: 'texts', outputs: ['waveform'] },
      { order: 37, reads: 'texts', input: 'scales' },
    ],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
