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
  speaker_embedder: {
    load: async () => (await import('./speaker-embedder.js')).SpeakerEmbedder,
    takes: 'audio',
    architectures: ['ForXVector', 'WeSpeakerResNetModel'],
    files: ['preprocessor_config.json', 'config.json'],
    nearest: [{ order: 31, reads: 'sound', outputs: [['embeddings', 'embs', 'embedding']] }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
