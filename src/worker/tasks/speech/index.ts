/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const SPEECH = {
  speech_recognizer: {
    load: async () => (await import('./speech-recognizer.js')).SpeechRecognizer,
    takes: 'audio',
    architectures: ['ForCTC'],
    modelTypes: ['nemo-conformer-tdt', 'nemo-conformer-rnnt', 'nemo-conformer-ctc'],
    models: ['model', 'encoder-model'],
    main: 'encoder',
    beside: { decoder: ['decoder_joint-model'] },
    divided: ['nemo-conformer-tdt', 'nemo-conformer-rnnt'],
    files: ['vocab.json', 'tokenizer_config.json', 'preprocessor_config.json', 'config.json'],
    nearest: [{ order: 30, reads: 'sound', main: { rank: 3, isLogits: true } }],
  },
  voice_activity_detector: {
    load: async () => (await import('./voice-activity-detector.js')).VoiceActivityDetector,
    takes: 'audio',
    nearest: [{ order: 25, reads: 'sound', input: 'sr' }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
