import { TabServeError } from '../../../contract/errors.js';
import type { Context, NodeHandler } from '../../../contract/handler.js';
import type { HearingProgress } from '../../../contract/hearing-progress.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { AudioInput } from '../../../contract/audio.js';
import type { Recording } from '../../audio/read-audio.js';
import type { SampleReader } from '../../audio/sample-reader.js';
import { soundWindows } from '../../audio/sound-windows.js';
import { RecordingHandler } from '../../handlers/recording-handler.js';
import { report } from '../../handlers/recordings.js';
import { isSize, wrong } from '../../handlers/log-mel-config.js';
import { loadHandler, type HandlerOf } from '../../handlers/registry.js';
import { isSampleRate, PREPROCESSOR, readJson } from '../../handlers/speech-files.js';
import { floatOutput } from '../../outputs/floats.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { byVoice } from './by-voice.js';
import { matchWindows } from './match-windows.js';
import { SPEAKER_DIARIZER_SCHEMA } from './schemas.js';
import { classSpeakers, localSpeakers, readWindow, speakerCount, type Frames, type Window } from './segmentation.js';
import { turnsOf, type SpeakerTurn } from './turns.js';

/** The `params` of a speaker diarizer. */
export interface SpeakerDiarizerParams {
  /**
   * How many people speak, if it is known.
   * @integer
   * @minimum 1
   */
  readonly numSpeakers?: number;
  /**
   * The least number of people. Default: 1.
   * @integer
   * @minimum 1
   */
  readonly minSpeakers?: number;
  /**
   * The largest number of people. Default: any.
   * @integer
   * @minimum 1
   */
  readonly maxSpeakers?: number;
  /**
   * The largest distance between the mean vectors of two groups that are one person; vectors have the length 1. With
   * less, there are more speakers.
   * @minimum 0
   * @maximum 2
   * @default 0.7045654963945799
   */
  readonly threshold?: number;
  /**
   * Seconds: a pause of a speaker that is shorter is none.
   * @minimum 0
   * @default 0
   */
  readonly minDurationOff?: number;
  /**
   * Seconds: what somebody says in less time is left out.
   * @minimum 0
   * @default 0
   */
  readonly minDurationOn?: number;
  /**
   * From one window of the model to the next, as a share of a window. 0.5 takes a fifth of the time of 0.1, and is less
   * exact.
   * @exclusiveMinimum 0
   * @maximum 1
   * @default 0.1
   */
  readonly windowStep?: number;
}

/** The node with the model of voices, which may be missing. */
const EMBEDDER = 'embedder';

/** Seconds of the windows that pyannote's segmentation-3.0 was trained with, if the model takes any number of samples. */
const WINDOW = 10;
/** The frames of segmentation-3.0: from one to the next, and how many samples more one of them sees. */
const STEP = 270;
const OFFSET = 721;

/**
 * Returns who speaks when, with pyannote's segmentation-3.0, by the rules of its pipeline `speaker-diarization-3.1`. The
 * model hears windows of ten seconds, one each second, and finds up to three speakers in each; two may speak at once.
 * Who is the same person in several windows is found by the voice: the node `embedder` is a model of
 * `speaker_embedder`, whose vectors are clustered (agglomerative, centroid linkage). A vector is made of what somebody
 * says alone in a window.
 *
 * `client.stream` yields `{ done, total }` after each window; with `embedder`, each counts twice, once for its voices.
 *
 * Without `embedder`, those who speak in the same frames of two windows are the same person. Who is silent for a whole
 * window is then somebody new, and `numSpeakers`, `minSpeakers` and `maxSpeakers` are refused.
 * @answer `[{ speaker, start, end, score }, …]` in seconds, by their starts; `SPEAKER_00` speaks first
 */
export class SpeakerDiarizer extends RecordingHandler<readonly SpeakerTurn[]> {
  declare readonly paramsType?: SpeakerDiarizerParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['PyAnnoteForAudioFrameClassification'],
    files: [PREPROCESSOR],
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 28, reads: 'sound', main: { rank: 3, isOnly: true, ends: [7] } },
  ];

  static override readonly schema: ConfigSchema = SPEAKER_DIARIZER_SCHEMA;

  readonly #turns = new WeakMap<Context, readonly (readonly SpeakerTurn[])[]>();
  #embedder: NodeHandler<HandlerOf<'speaker_embedder'>> | undefined;
  #frames!: Omit<Frames, 'windowStep'>;

  /**
   * Opens the model, and the node `embedder`, if there is one.
   * @throws `model-config` if the files do not describe the model's frames; what opening the node throws
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { dims, name } = this.inputInfo;
    if (dims.length !== 3 || this.outputInfo.dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `speaker_diarizer needs a model with an input [rows, 1, samples] and an output [rows, frames, classes], as pyannote's segmentation-3.0; this one has "${name}" of ${dims.length} dims and "${this.outputInfo.name}" of ${this.outputInfo.dims.length}.`,
      );
    const hasFile = context.files.has(PREPROCESSOR);
    const file = hasFile ? await readJson(context.files, PREPROCESSOR, 'speaker_diarizer') : {};
    const { step = STEP, offset = OFFSET, sampling_rate: rate = 16_000 } = file;
    const sampleRate = this.config['sampleRate'] ?? rate;
    if (!isSampleRate(sampleRate)) throw wrong('sampling_rate', sampleRate, 'a whole number of samples per second');
    if (!isSize(step)) throw wrong('step', step, 'the samples from one frame to the next');
    if (offset !== 0 && !isSize(offset)) throw wrong('offset', offset, 'the samples that a frame sees, less its step');
    const window = typeof dims[2] === 'number' ? dims[2] : WINDOW * sampleRate;
    this.#frames = { sampleRate, window, step, offset, count: Math.max(0, Math.floor((window - offset) / step)) };
    if (context.modelYamlConfig.nodes?.[EMBEDDER] !== undefined)
      this.#embedder = await context.openHandler(EMBEDDER, await loadHandler('speaker_embedder'));
  }

  protected override get sampleRate(): number {
    return this.#frames.sampleRate;
  }

  /** Returns a window of silence. */
  override example(_context: Context): Tensors {
    return this.#feeds(new Float32Array(this.#frames.window));
  }

  protected override async openRow(input: AudioInput, index: number, context: Context): Promise<Recording> {
    if (context.sequenceId(index) !== undefined)
      throw new TabServeError(
        'invalid-input',
        'Who speaks is found in a whole recording, and this is a piece of a sequence, of which each would begin with SPEAKER_00 anew. Pass the whole recording, without a sequence.',
      );
    const counts = ['numSpeakers', 'minSpeakers', 'maxSpeakers'] as const;
    const asked = counts.find((name) => this.param<number | undefined>(name, index, context) !== undefined);
    if (asked !== undefined && !this.#embedder)
      throw new TabServeError(
        'invalid-input',
        `${asked}: people are counted by their voices, and the model has no node "${EMBEDDER}". Name one in nodes: a model of speaker_embedder.`,
      );
    const [least, most] = [this.#least(index, context), this.#most(index, context)];
    if (least > most)
      throw new TabServeError('invalid-input', `minSpeakers: it is ${least}, and maxSpeakers is ${most}. Swap them.`);
    return await super.openRow(input, index, context);
  }

  /** Finds the turns of one row after another. A row that cannot be read fails alone. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const found: (readonly SpeakerTurn[])[] = [];
    this.#turns.set(context, found);
    await this.hearRows(context, async (reader, index) => {
      found[index] = await this.#diarize(reader, index, context);
    });
    return inputs;
  }

  protected override rowResults(_outputs: Tensors, context: Context): (index: number) => readonly SpeakerTurn[] {
    return (index) => this.#turns.get(context)![index]!;
  }

  protected override emptyResult: readonly SpeakerTurn[] = [];

  async #diarize(reader: SampleReader, index: number, context: Context): Promise<readonly SpeakerTurn[]> {
    const param = <T>(name: keyof SpeakerDiarizerParams): T => this.param<T>(name, index, context);
    const { window, sampleRate } = this.#frames;
    const frames = { ...this.#frames, windowStep: Math.max(1, Math.round(param<number>('windowStep') * window)) };
    const times = this.#embedder ? 2 : 1;
    const { windows, speakers, length } = await this.#segment(reader, frames, context, ({ done, total }) =>
      report({ done, total: times * total }, index, context),
    );
    const local = localSpeakers(windows, speakers);
    if (local.length === 0) return [];
    const [least, most] = [this.#least(index, context), this.#most(index, context)];
    const rules = {
      minDurationOn: param<number>('minDurationOn'),
      minDurationOff: param<number>('minDurationOff'),
      most,
    };
    const heard = { windows, speakers, local, frames };
    const total = times * windows.length;
    const identities = this.#embedder
      ? await byVoice(reader, heard, this.#embedder, { threshold: param('threshold'), least, most }, context, (share) =>
          report({ done: Math.round((1 + share) * windows.length), total }, index, context),
        )
      : matchWindows(windows, local, speakers, frames);
    return turnsOf(windows, local, identities, frames, rules, length / sampleRate);
  }

  /** Runs the model on the windows. Returns who speaks in each, and of how many, and the samples of the recording. */
  async #segment(
    reader: SampleReader,
    { window, windowStep }: Frames,
    context: Context,
    onWindow: (progress: HearingProgress) => Promise<void>,
  ): Promise<{ readonly windows: readonly Window[]; readonly speakers: number; readonly length: number }> {
    const windows: Window[] = [];
    let [length, classes]: [number, ReturnType<typeof classSpeakers>?] = [0];
    for await (const { start, samples, progress } of soundWindows(reader, window, windowStep)) {
      length = start + samples.length;
      const padded = new Float32Array(window);
      padded.set(samples);
      const output = numbersOf(
        await this.model.run(this.#feeds(padded), { signal: context.signal }),
        this.outputInfo.name,
      );
      const [, count, size] = output.dims;
      if (count !== this.#frames.count)
        throw new TabServeError(
          'model-config',
          `The model answers ${count} frames for ${padded.length} samples, and step and offset of ${PREPROCESSOR} make ${this.#frames.count} of them. Take the file of the model that was exported.`,
        );
      const logits = toFloats(output);
      checkScores(logits, 'logits', false);
      windows.push(readWindow(logits, (classes ??= classSpeakers(size!))));
      await onWindow(progress);
    }
    return { windows, speakers: speakerCount(classes!), length };
  }

  #feeds(window: Float32Array): Tensors {
    return { [this.inputInfo.name]: { dtype: 'float32', dims: [1, 1, window.length], data: window } };
  }

  #least(index: number, context: Context): number {
    return (
      this.param<number | undefined>('numSpeakers', index, context) ?? this.param('minSpeakers', index, context) ?? 1
    );
  }

  #most(index: number, context: Context): number {
    const count = this.param<number | undefined>('numSpeakers', index, context);
    return count ?? this.param<number | undefined>('maxSpeakers', index, context) ?? Infinity;
  }
}
