import type { Signature } from '../../../contract/task.js';
import { readPiece, rowsOf, type LiveSamples } from '../../audio/live-samples.js';
import { recordingOf, type Recording } from '../../audio/read-audio.js';
import type { SampleReader } from '../../audio/sample-reader.js';
import type { AudioInput } from '../../../contract/audio.js';
import type { Context } from '../../../contract/handler.js';
import type { OnArrayBuffer, Tensors } from '../../../contract/tensors.js';
import {
  findSpeech,
  followSpeech,
  SPEECH_START,
  type SpeechEvent,
  type SpeechProgress,
  type SpeechRules,
  type SpeechSegment,
} from './speech.js';
import { checkRows, numbersOf } from '../../outputs/rows.js';
import { transferResult } from '../../outputs/transfer.js';
import { checkScores } from '../../outputs/scores.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { toFloats } from '../../tensors/tensors.js';
import { RecordingHandler } from '../../handlers/recording-handler.js';
import { failUnreadable, report } from '../../handlers/recordings.js';
import {
  checkSilero,
  CONTEXT,
  RATE,
  runWindows,
  STATE,
  WINDOW,
  type HeardVoice,
  type Voice,
  type VoiceRow,
} from './silero.js';
import { VOICE_ACTIVITY_DETECTOR_SCHEMA } from './schemas.js';
import type { AudioHandlerConfig } from '../../handlers/audio-handler.js';

/** The `params` of a voice activity detector. */
export interface VoiceActivityParams {
  /**
   * Speech begins with a window whose probability is at least this.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly threshold?: number;
  /**
   * Speech may end with a window whose probability is below this. Default: threshold − 0.15, at least 0.01.
   * @minimum 0
   * @maximum 1
   */
  readonly negThreshold?: number;
  /**
   * Milliseconds: shorter speech is dropped. Not for sequences.
   * @minimum 0
   * @default 250
   */
  readonly minSpeechDurationMs?: number;
  /**
   * Seconds: longer speech is divided, at its longest silence of more than 98 ms if it has one. Not for sequences.
   * Default: no limit.
   * @exclusiveMinimum 0
   */
  readonly maxSpeechDurationS?: number;
  /**
   * Milliseconds: a shorter silence does not end speech.
   * @minimum 0
   * @default 100
   */
  readonly minSilenceDurationMs?: number;
  /**
   * Milliseconds that are added to speech on both sides.
   * @minimum 0
   * @default 30
   */
  readonly speechPadMs?: number;
}

/** The speech in a recording. */
export interface VoiceActivity {
  /** In order; they do not overlap. */
  readonly segments: readonly SpeechSegment[];
  /** The probability of speech, one for each window of 32 ms, the last of which may be shorter. */
  readonly probabilities: OnArrayBuffer<Float32Array>;
  /** Length of the recording, in seconds. */
  readonly duration: number;
}

/** What one piece of a sequence adds. */
export interface VoiceActivityUpdate {
  /** The probability of speech, one for each window of 32 ms that this piece has completed: it may be none. */
  readonly probabilities: OnArrayBuffer<Float32Array>;
  /** Where speech began or ended, in seconds since the sequence's start, in order. */
  readonly events: readonly SpeechEvent[];
  /** Whether somebody is speaking at the end of this piece. */
  readonly speaking: boolean;
}

/** The state of a sequence. */
interface LiveState extends Voice, LiveSamples {
  readonly progress: SpeechProgress;
}

const WINDOWS = { size: WINDOW, rate: RATE } as const;

/** The keys of `handler:` that only the config sets. */
export interface VoiceActivityDetectorConfig extends AudioHandlerConfig {
  /**
   * Silero VAD hears 16,000 samples per second.
   * @default 16000
   */
  readonly sampleRate?: 16000;
}

/**
 * Returns where somebody speaks, with Silero VAD 5 or 6 (https://github.com/snakers4/silero-vad). A single request is a
 * whole recording, and its answer are the segments of speech, by the rules of silero-vad's `get_speech_timestamps`. A
 * request of a sequence is a piece of a live recording, of any length, and its answer says where speech has begun or
 * ended, by the rules of its `VADIterator`. Sound of any sample rate is resampled to 16 kHz.
 * @answer `{ segments: [{ start, end }, …], probabilities, duration }` in seconds; [in a
 *   sequence](tasks/voice-activity.md) `{ events, speaking, probabilities }`
 */
export class VoiceActivityDetector extends RecordingHandler<VoiceActivity> {
  declare readonly paramsType?: VoiceActivityParams;
  declare readonly sequenceResultType?: VoiceActivityUpdate;

  declare readonly configType?: VoiceActivityDetectorConfig;
  static override readonly nearest: readonly Signature[] = [{ order: 25, reads: 'sound', input: 'sr' }];
  static override readonly schema: ConfigSchema = VOICE_ACTIVITY_DETECTOR_SCHEMA;

  /** The rows of a batch. */
  readonly #heard = new WeakMap<Context, Map<number, HeardVoice>>();
  readonly #live = new WeakMap<Context, Map<number, LiveSamples>>();

  /** Opens the model. @throws `model-config` if it is not Silero VAD 5 or 6 */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkSilero(this.model);
  }

  /** Returns the model's inputs for a window of silence. */
  override example(_context: Context): Tensors {
    return {
      input: { dtype: 'float32', dims: [1, CONTEXT + WINDOW], data: new Float32Array(CONTEXT + WINDOW) },
      state: { dtype: 'float32', dims: [2, 1, STATE / 2], data: new Float32Array(STATE) },
      sr: { dtype: 'int64', dims: [], data: BigInt64Array.of(BigInt(RATE)) },
    };
  }

  /** Opens a recording or, of a piece of a sequence, the samples that fill windows: a later piece cannot change them. */
  protected override async openRow(input: AudioInput, index: number, context: Context): Promise<Recording> {
    if (context.sequenceId(index) === undefined) return await super.openRow(input, index, context);
    const before = context.state(index) as LiveState | undefined;
    const { samples, live } = await readPiece(input, before, { rate: RATE, step: WINDOW, most: this.maxDuration });
    rowsOf(this.#live, context).set(index, live);
    return recordingOf(samples, RATE);
  }

  /** Runs the model window by window; the rows of a batch run together. */
  override async inference(_inputs: Tensors, context: Context): Promise<Tensors> {
    const recordings = this.recordingsOf(context);
    const voices = await runWindows(
      this.model,
      recordings.map(([index, reader]) => this.#rowOf(reader, index, context)),
      context,
    );
    const heard = rowsOf(this.#heard, context);
    for (const [at, [index]] of recordings.entries()) heard.set(index, voices[at]!);
    const rows = context.systemProperties.batchSize;
    const most = Math.max(0, ...voices.map(({ probabilities }) => probabilities.length));
    const output = new Float32Array(rows * most);
    for (const [index, { probabilities }] of heard) output.set(probabilities, index * most);
    return { [this.outputInfo.name]: { dtype: 'float32', dims: [rows, most], data: output } };
  }

  #rowOf(reader: SampleReader, index: number, context: Context): VoiceRow {
    const windows = Math.ceil(reader.length / WINDOW);
    return {
      voice: context.state(index) as LiveState | undefined,
      async read(start, end) {
        try {
          return await reader.read(start, end);
        } catch (error) {
          failUnreadable(reader, error, index, context);
          return new Float32Array(0);
        }
      },
      onSecond: (done) => report({ done, total: Math.max(done, windows) }, index, context),
    };
  }

  /**
   * Converts probabilities to segments of speech or, for a sequence, to where it began and ended. A row with a
   * number that is no probability fails with `inference-failed`.
   */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => VoiceActivity {
    const { name } = this.outputInfo;
    const rows = context.systemProperties.batchSize;
    const output = numbersOf(outputs, name);
    checkRows(name, output, rows);
    const data = toFloats(output);
    const most = data.length / rows;
    return (index) => {
      const count = Math.ceil(this.#samplesOf(index, context) / WINDOW);
      const probabilities = (data as OnArrayBuffer<Float32Array>).slice(index * most, index * most + count);
      checkScores(probabilities, 'probabilities', false);
      const live = this.#live.get(context)?.get(index);
      const result = live
        ? this.#update(probabilities, live, index, context)
        : this.#activity(probabilities, index, context);
      // For a sequence, it is of another type: see `sequenceResultType`.
      return transferResult(result, [probabilities.buffer]) as VoiceActivity;
    };
  }

  #activity(probabilities: OnArrayBuffer<Float32Array>, index: number, context: Context): VoiceActivity {
    const samples = this.#samplesOf(index, context);
    const segments = findSpeech(probabilities, samples, this.#rules(index, context), WINDOWS);
    return { segments, probabilities, duration: samples / RATE };
  }

  #update(
    probabilities: OnArrayBuffer<Float32Array>,
    live: LiveSamples,
    index: number,
    context: Context,
  ): VoiceActivityUpdate {
    const before = context.state(index) as LiveState | undefined;
    const rules = this.#rules(index, context);
    const events: SpeechEvent[] = [];
    let progress = before?.progress ?? SPEECH_START;
    for (const probability of probabilities) {
      const next = followSpeech(progress, probability, rules, WINDOWS);
      progress = next.progress;
      if (next.event) events.push(next.event);
    }
    const { context: heardLast, state } = this.#heard.get(context)?.get(index)?.voice ?? before ?? silence();
    context.setState(index, { ...live, context: heardLast, state, progress } satisfies LiveState);
    return { probabilities, events, speaking: progress.speaking };
  }

  #samplesOf(index: number, context: Context): number {
    return this.#heard.get(context)?.get(index)?.samples ?? 0;
  }

  #rules(index: number, context: Context): SpeechRules {
    const value = <T>(name: keyof SpeechRules): T => this.param<T>(name, index, context);
    const threshold = value<number>('threshold');
    return {
      threshold,
      negThreshold: value<number | undefined>('negThreshold') ?? Math.max(threshold - 0.15, 0.01),
      minSpeechDurationMs: value('minSpeechDurationMs'),
      maxSpeechDurationS: value<number | undefined>('maxSpeechDurationS') ?? Infinity,
      minSilenceDurationMs: value('minSilenceDurationMs'),
      speechPadMs: value('speechPadMs'),
    };
  }
}

function silence(): Voice {
  return { context: new Float32Array(CONTEXT), state: new Float32Array(STATE) };
}
