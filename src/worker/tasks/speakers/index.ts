/** The tasks of this folder, made from the classes by `npm run generate`. */
import type { TaskDescriptor } from '../../../contract/task.js';

/** By the handler's name. */
export const SPEAKERS = {
  conversation_transcriber: {
    load: async () => (await import('./conversation-transcriber.js')).ConversationTranscriber,
    takes: 'audio',
  },
  speaker_diarizer: {
    load: async () => (await import('./speaker-diarizer.js')).SpeakerDiarizer,
    takes: 'audio',
    architectures: ['PyAnnoteForAudioFrameClassification'],
    files: ['preprocessor_config.json'],
    nearest: [{ order: 28, reads: 'sound', main: { rank: 3, isOnly: true, ends: [7] } }],
  },
} as const satisfies Readonly<Record<string, TaskDescriptor>>;
