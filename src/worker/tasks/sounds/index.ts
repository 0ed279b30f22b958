/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const SOUNDS = {
  audio_classifier: {
    load: async () => (await import('./audio-classifier.js')).AudioClassifier,
    takes: 'audio',
    architectures: ['ForAudioClassification'],
    hasClasses: true,
    files: ['preprocessor_config.json', 'config.json'],
    nearest: [{ order: 35, reads: 'sound', main: { rank: 2, isLogits: true } }],
  },
  audio_text_embedder: {
    load: async () => (await import('./audio-text-embedder.js')).AudioTextEmbedder,
    takes: 'audio',
    nodes: { audio: ['audio_model'], text: ['text_model'] },
    nodeProcessors: { text: 'tokenizer' },
    files: ['preprocessor_config.json'],
  },
  keyword_spotter: {
    load: async () => (await import('./keyword-spotter.js')).KeywordSpotter,
    takes: 'audio',
  },
  speaker_embedder: {
    load: async () => (await import('./speaker-embedder.js')).SpeakerEmbedder,
    takes: 'audio',
    architectures: ['ForXVector', 'WeSpeakerResNetModel'],
    files: ['preprocessor_config.json', 'config.json'],
    nearest: [
      { order: 31, reads: 'sound', outputs: [['embeddings', 'embs', 'embedding']] },
      { order: 32, reads: 'sound', main: { rank: 2, name: ['last_hidden_state'] } },
    ],
  },
  zero_shot_audio_classifier: {
    load: async () => (await import('./zero-shot-audio-classifier.js')).ZeroShotAudioClassifier,
    takes: 'audio',
    architectures: ['ClapModel'],
    processor: 'tokenizer',
    files: ['preprocessor_config.json', 'config.json'],
    nearest: [{ order: 9, reads: 'images-and-texts', outputs: ['logits_per_audio'] }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
