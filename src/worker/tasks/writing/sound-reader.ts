/** How families of models hear. */
import type { Tensors } from '../../../contract/tensors.js';

/** A recording, ready for the model. */
export interface ReadSound {
  /** What stands in the prompt in place of the template's own text for a recording. */
  readonly text: string;
  /** How many of the prompt's tokens become vectors of the recording. */
  readonly count: number;
  /** Returns the inputs of the encoder. @param heartbeat is called while they are computed */
  feeds(heartbeat: () => void): Tensors;
}

/** Hears as one family of models does. */
export interface SoundReader {
  /** The text that the chat template writes for a recording, the token of which each becomes a vector of it. */
  readonly placeholder: string;
  /** Whether it stands in the texts of messages, as these models' templates take no lists of parts. */
  readonly isInTexts: boolean;
  /** Samples per second. */
  readonly sampleRate: number;
  /** The inputs that the encoder may have. */
  readonly inputs: readonly string[];
  /** Makes a recording of at least one sample ready. @throws `invalid-input` for one that the model cannot hear */
  read(samples: Float32Array): ReadSound;
}
