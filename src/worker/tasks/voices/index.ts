/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const VOICES = {
  text_to_speech: {
    load: async () => (await import('./text-to-speech.js')).TextToSpeech,
    takes: 'text',
    architectures: [
      'VitsModel',
      'SpeechT5ForTextToSpeech',
      'StyleTextToSpeech2Model',
      'SupertonicForConditionalGeneration',
    ],
    modelTypes: ['vits', 'style_text_to_speech_2', 'supertonic'],
    models: ['model', 'decoder_model_merged', 'latent_denoiser', 'vector_estimator'],
    beside: {
      encoder: ['encoder_model', 'text_encoder'],
      vocoder: ['decoder_postnet_and_vocoder', 'voice_decoder', 'vocoder'],
      duration: ['duration_predictor'],
    },
    besideTypes: { duration: ['onnx'] },
    divided: ['SpeechT5ForTextToSpeech', 'supertonic', 'onnx'],
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
      { order: 38, reads: 'texts', input: 'noisy_latent' },
    ],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
