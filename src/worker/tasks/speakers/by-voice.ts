/** Finds who is the same person in several windows by the voice. */
import { PredictionError, TabServeError } from '../../../contract/errors.js';
import type { Context, NodeHandler } from '../../../contract/handler.js';
import { pause } from '../../../shared/next-task.js';
import type { SampleReader } from '../../audio/sample-reader.js';
import type { HandlerOf } from '../../handlers/registry.js';
import { voiceOf, type Frames, type LocalSpeaker, type Window } from './segmentation.js';
import { speakersOf } from './voices.js';

/** More would take a gigabyte of distances, and minutes. */
const MAX_VOICES = 12_000;

type Embedder = NodeHandler<HandlerOf<'speaker_embedder'>>;

/** What was heard in the windows of a recording. */
interface Heard {
  readonly windows: readonly Window[];
  /** How many speakers the model tells apart in a window. */
  readonly speakers: number;
  readonly local: readonly LocalSpeaker[];
  readonly frames: Frames;
}

/**
 * Returns the person of each speaker of a window, numbered by their first windows; −1 for one who says too little.
 * @param reader of the recording, whose windows are heard once more
 * @param rules how many people there are, and how unlike the voices of one may be
 * @param onVoice is called after each voice, with the share of those that have been heard
 * @throws `invalid-input` for too many voices; what the embedder throws
 */
export async function byVoice(
  reader: SampleReader,
  { windows, speakers, local, frames }: Heard,
  embedder: Embedder,
  rules: { readonly threshold: number; readonly least: number; readonly most: number },
  context: Context,
  onVoice: (share: number) => Promise<void>,
): Promise<readonly number[]> {
  const vectors: (Float32Array | undefined)[] = [];
  for (const { window, speaker } of local) {
    const start = window * frames.windowStep;
    const samples = await reader.read(start, start + frames.window);
    const vectorOfVoice = (isAlone: boolean): Promise<Float32Array | undefined> => {
      const voice = voiceOf(samples, windows[window]!, { speaker, speakers, isAlone }, frames);
      return vectorOf(voice, frames.sampleRate, embedder, context);
    };
    vectors.push((await vectorOfVoice(true)) ?? (await vectorOfVoice(false)));
    await onVoice(vectors.length / local.length);
  }
  const known = vectors.filter((vector) => vector !== undefined);
  if (known.length > MAX_VOICES)
    throw new TabServeError(
      'invalid-input',
      `The recording has ${known.length} voices in its windows, and the limit is ${MAX_VOICES}. Pass a shorter one, or set windowStep to 0.5.`,
    );
  if (known.length === 0) return local.map(() => -1);
  const people = await speakersOf(known, rules, () => pause(context));
  const numbers = new Map([...new Set(people)].map((person, number) => [person, number]));
  let next = 0;
  return vectors.map((vector) => (vector ? numbers.get(people[next++]!)! : -1));
}

/** Returns the vector of a voice; undefined if it is too short for the model. */
async function vectorOf(
  samples: Float32Array,
  sampleRate: number,
  embedder: Embedder,
  context: Context,
): Promise<Float32Array | undefined> {
  if (samples.length === 0) return undefined;
  const [vector] = await embedder.handle([{ samples, sampleRate }], context, { params: { normalize: false } });
  if (!(vector instanceof PredictionError)) return vector;
  if (vector.code === 'invalid-input') return undefined;
  throw vector;
}
