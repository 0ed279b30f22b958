import type { AudioInput } from '../../../contract/audio.js';
import { asTabServeError, TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { OnArrayBuffer, Session, Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { readPiece, rowsOf, type LiveSamples } from '../../audio/live-samples.js';
import { recordingOf, type Recording } from '../../audio/read-audio.js';
import type { SampleReader } from '../../audio/sample-reader.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';
import { RecordingHandler } from '../../handlers/recording-handler.js';
import { report } from '../../handlers/recordings.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { transferResult } from '../../outputs/transfer.js';
import { DETECTION_START, follow, type DetectionProgress, type DetectionRules } from './detections.js';
import { KEYWORD_SPOTTER_SCHEMA } from './schemas.js';
import { RATE, STEP, WakeWords, type Heard } from './wake-words.js';

/** The `params` of a keyword spotter. */
export interface KeywordSpotterParams {
  /**
   * A step counts if its score is at least this.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly threshold?: number;
  /**
   * How many steps of 80 ms in a row must reach the threshold before the keyword is detected. More steps give fewer
   * false alarms.
   * @integer
   * @minimum 1
   * @default 1
   */
  readonly patience?: number;
  /**
   * Seconds after a detection during which the keyword is not detected again. With 0, each step that reaches the
   * threshold is a detection.
   * @minimum 0
   * @default 1
   */
  readonly debounceTime?: number;
}

/** The keys of `handler:` that only the config sets. */
export interface KeywordSpotterConfig extends AudioHandlerConfig {
  /**
   * openWakeWord hears 16,000 samples per second.
   * @default 16000
   */
  readonly sampleRate?: 16000;
}

/** A keyword that was heard. */
export interface KeywordDetection {
  readonly label: string;
  /** The end of the step in which it was heard, in seconds since the start of the recording or of the sequence. */
  readonly time: number;
  readonly score: number;
}

/** The keywords in a recording, or in a piece of a sequence. */
export interface SpottedKeywords {
  /** By their times. */
  readonly detections: readonly KeywordDetection[];
  /** The score of each step of 80 ms, by keyword. */
  readonly scores: Readonly<Record<string, OnArrayBuffer<Float32Array>>>;
}

/** The state of a sequence. */
interface LiveState extends LiveSamples, Spotting {}

/** Where a recording is. */
interface Spotting {
  readonly heard: Heard;
  /** Steps so far. */
  readonly steps: number;
  /** By keyword. */
  readonly progress: readonly DetectionProgress[];
}

/** The nodes with the models that make features. */
const [SPECTROGRAM, EMBEDDING] = ['melspectrogram', 'embedding'] as const;
/** The first steps have heard too little: openWakeWord gives them 0. */
const SILENT_STEPS = 5;
/** Seconds of silence before and after a recording, as in openWakeWord's `predict_clip`. */
const SILENCE = 1;
/** Steps between two chances for other work. */
const STEPS_AT_ONCE = 10;

/**
 * Hears keywords, such as "hey Jarvis", with a model of openWakeWord (https://github.com/dscripka/openWakeWord). A
 * request of a sequence is a piece of a live recording, of any length, and its answer says what was heard in it. A single
 * request is a whole recording, which has a second of silence before and after it. The scores are those of openWakeWord,
 * one for each step of 80 ms; where it begins with random noise, silence has been heard here.
 *
 * The model is the keyword's file, such as `hey_jarvis_v0.1.onnx`. The nodes `melspectrogram` and `embedding` are the
 * models that all keywords share, `melspectrogram.onnx` and `embedding_model.onnx`. A model of one keyword has the
 * archive's name as label; one of several has those of `index_to_name.json` or `handler.labels`.
 *
 * `client.stream` yields `{ done, total }`, in steps, after each ten of them.
 * @answer `{ detections: [{ label, time, score }, …], scores: { LABEL: [score, …] } }`, in seconds; in a sequence, of
 *   what this piece adds
 */
export class KeywordSpotter extends RecordingHandler<SpottedKeywords> {
  declare readonly paramsType?: KeywordSpotterParams;
  declare readonly configType?: KeywordSpotterConfig;
  static override readonly schema: ConfigSchema = KEYWORD_SPOTTER_SCHEMA;

  readonly #live = new WeakMap<Context, Map<number, LiveSamples>>();
  readonly #steps = new WeakMap<Context, readonly number[]>();
  readonly #after = new WeakMap<Context, Map<number, Heard>>();
  #models!: WakeWords;
  #labels!: readonly string[];

  /** Opens the three models. @throws `model-config` if they are not openWakeWord's; what opening a node throws */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const open = async (node: string): Promise<Session> => {
      try {
        return await context.open(node);
      } catch (cause) {
        const error = asTabServeError(cause);
        if (error.code !== 'model-not-found') throw error;
        throw new TabServeError(
          'model-config',
          `nodes.${node}: keyword_spotter needs this model, too. Name openWakeWord's files in the config: nodes: { melspectrogram: melspectrogram.onnx, embedding: embedding_model.onnx }, paths in the archive or URLs.`,
          { cause },
        );
      }
    };
    this.#models = new WakeWords(await open(SPECTROGRAM), await open(EMBEDDING), this.model, this.outputInfo);
    const count = this.outputInfo.dims.at(-1);
    if (typeof count !== 'number' || this.outputInfo.dims.length !== 2)
      throw new TabServeError(
        'model-config',
        `handler.outputName: keyword_spotter needs an output [rows, keywords] of a known size, and "${this.outputInfo.name}" is [${this.outputInfo.dims.map((dim) => dim ?? '?').join(', ')}].`,
      );
    const { modelName } = context.manifest.model;
    const labelOf = (index: number): string => this.mapping?.[index] ?? (count === 1 ? modelName : String(index));
    this.#labels = Array.from({ length: count }, (_, index) => labelOf(index));
  }

  override example(_context: Context, node?: string): Tensors {
    return this.#models.example(node);
  }

  /** Opens a recording; of a piece of a sequence, the samples that fill steps. */
  protected override async openRow(input: AudioInput, index: number, context: Context): Promise<Recording> {
    if (context.sequenceId(index) === undefined) return await super.openRow(input, index, context);
    const before = context.state(index) as LiveState | undefined;
    const { samples, live } = await readPiece(input, before, { rate: RATE, step: STEP, most: this.maxDuration });
    rowsOf(this.#live, context).set(index, live);
    return recordingOf(samples, RATE);
  }

  /** Runs the models on each row alone, step by step. Returns the scores, float32 `[rows, steps, keywords]`. */
  override async inference(_inputs: Tensors, context: Context): Promise<Tensors> {
    const { signal } = context;
    const count = this.#labels.length;
    const all = Array.from({ length: context.systemProperties.batchSize }, (): Float32Array[] => []);
    await this.hearRows(context, async (reader, row) => {
      const state = context.state(row) as LiveState | undefined;
      let heard = state?.heard ?? (await this.#models.start({ signal }));
      const own = all[row]!;
      const silence = this.#live.get(context)?.has(row) ? 0 : SILENCE;
      const total = stepsOf(reader.length, silence);
      for await (const samples of steps(reader, silence)) {
        const { scores, heard: next } = await this.#models.step(heard, samples, { signal });
        heard = next;
        const isHeard = (state?.steps ?? 0) + own.length >= SILENT_STEPS;
        own.push(isHeard ? scores.slice() : new Float32Array(count));
        context.heartbeat();
        const done = own.length;
        if (done % STEPS_AT_ONCE === 0) await report({ done, total: Math.max(done, total) }, row, context);
      }
      rowsOf(this.#after, context).set(row, heard);
    });
    this.#steps.set(
      context,
      all.map(({ length }) => length),
    );
    const most = Math.max(...all.map(({ length }) => length));
    const output = new Float32Array(all.length * most * count);
    for (const [row, own] of all.entries())
      for (const [step, scores] of own.entries()) output.set(scores, (row * most + step) * count);
    return { [this.outputInfo.name]: { dtype: 'float32', dims: [all.length, most, count], data: output } };
  }

  /** Reads the scores. A row with a score that is no probability fails with `inference-failed`. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => SpottedKeywords {
    const { data, dims } = numbersOf(outputs, this.outputInfo.name);
    const [, most, count] = dims as readonly [number, number, number];
    return (index) => {
      const steps = this.#steps.get(context)![index]!;
      const own = (data as Float32Array).subarray(index * most * count, (index * most + steps) * count);
      checkScores(own, 'probabilities', false);
      const before = context.state(index) as LiveState | undefined;
      const live = this.#live.get(context)?.get(index);
      const { detections, progress } = this.#detect(own, before, live ? 0 : SILENCE, this.#rules(index, context));
      const heard = this.#after.get(context)?.get(index);
      if (live && heard)
        context.setState(index, { ...live, heard, steps: (before?.steps ?? 0) + steps, progress } satisfies LiveState);
      const scores = this.#labels.map((label, at) => {
        const values: OnArrayBuffer<Float32Array> = Float32Array.from(
          { length: steps },
          (_, step) => own[step * count + at]!,
        );
        return [label, values] as const;
      });
      return transferResult(
        { detections, scores: Object.fromEntries(scores) },
        scores.map(([, values]) => values.buffer),
      );
    };
  }

  /** @param scores `[steps, keywords]` @param silence seconds before the recording */
  #detect(
    scores: Float32Array,
    before: LiveState | undefined,
    silence: number,
    rules: DetectionRules,
  ): { readonly detections: readonly KeywordDetection[]; readonly progress: readonly DetectionProgress[] } {
    const progress = [...(before?.progress ?? this.#labels.map(() => DETECTION_START))];
    const detections: KeywordDetection[] = [];
    for (let step = 0; step * this.#labels.length < scores.length; step++)
      for (const [at, label] of this.#labels.entries()) {
        const score = scores[step * this.#labels.length + at]!;
        const next = follow(progress[at]!, score, rules);
        progress[at] = next.progress;
        const time = (((before?.steps ?? 0) + step + 1) * STEP) / RATE - silence;
        if (next.isDetected) detections.push({ label, time: Math.max(0, time), score });
      }
    return { detections, progress };
  }

  #rules(index: number, context: Context): DetectionRules {
    const value = (name: keyof KeywordSpotterParams): number => this.param<number>(name, index, context);
    return {
      threshold: value('threshold'),
      patience: value('patience'),
      debounce: Math.ceil((value('debounceTime') * RATE) / STEP),
    };
  }
}

/** @param silence seconds before and after the sound; none for the pieces of a sequence, which fill steps */
function stepsOf(samples: number, silence: number): number {
  return silence === 0 ? samples / STEP : Math.ceil((samples + 2 * silence * RATE) / STEP) - 1;
}

/** Yields the samples of each step. */
async function* steps(reader: SampleReader, silence: number): AsyncGenerator<Float32Array, void> {
  let length = Infinity;
  for (let step = 0; ; step++) {
    // In the recording, which begins after the silence.
    const start = step * STEP - silence * RATE;
    const end = start + STEP;
    const samples = new Float32Array(STEP);
    if (end > 0 && start < length) {
      const from = Math.max(0, start);
      const sound = await reader.read(from, end);
      if (from + sound.length < end) length = from + sound.length;
      samples.set(sound, from - start);
    }
    if (step >= stepsOf(length, silence)) return;
    yield samples;
  }
}
