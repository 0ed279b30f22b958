import { openAudio, readAudio, type Recording } from '../audio/read-audio.js';
import type { AudioInput } from '../../contract/audio.js';
import { asTabServeError, TabServeError } from '../../contract/errors.js';
import type { Context, InputKind } from '../../contract/handler.js';
import { MAX_TENSOR_ELEMENTS } from '../../contract/limits.js';
import type { Tensor, Tensors } from '../../contract/tensors.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { BaseHandler } from './base-handler.js';
import { unwrap, type Row } from './row.js';
import { AUDIO_HANDLER_SCHEMA } from './schemas.js';
import type { BaseHandlerConfig } from './base-handler.js';

/** The keys of `handler:` that only the config sets. */
export interface AudioHandlerConfig extends BaseHandlerConfig {
  /**
   * The samples per second of the model's input. Sound of another rate is resampled.
   * @integer
   * @minimum 1000
   * @maximum 768000
   * @default 16000
   */
  readonly sampleRate?: number;
  /**
   * The maximum number of seconds of one input; a longer one fails with invalid-input.
   * @exclusiveMinimum 0
   * @default 3600
   */
  readonly maxDuration?: number;
}

/**
 * Reads sound as the model's input, float32 `[rows, samples]`: one channel, the mean of all, at the sample rate of
 * `handler.sampleRate`. Rows are padded with zeros to the longest row of the batch, or to the length that the model
 * fixes. If the sound of a row cannot be read, only this row fails.
 * @answer the model's outputs: tensors by name
 */
export class AudioHandler<Result = Tensors> extends BaseHandler<AudioInput, Result> {
  static override readonly takes: InputKind = 'audio';
  declare readonly configType?: AudioHandlerConfig;
  static override readonly schema: ConfigSchema = AUDIO_HANDLER_SCHEMA;

  readonly #counts = new WeakMap<Context, readonly number[]>();

  /** The samples per second of the model's input. */
  protected get sampleRate(): number {
    return (this.config['sampleRate'] ?? this.defaults['sampleRate']) as number;
  }

  /** Returns one second of silence, or as much as the model fixes. */
  override example(context: Context): Tensors | undefined | Promise<Tensors | undefined> {
    const [batch, length] = this.inputInfo.dims;
    if (this.model.inputs.length > 1 || this.inputInfo.dims.length !== 2) return super.example(context);
    const dims = [typeof batch === 'number' ? batch : 1, typeof length === 'number' ? length : this.sampleRate];
    return { [this.inputInfo.name]: { dtype: 'float32', dims, data: new Float32Array(dims[0]! * dims[1]!) } };
  }

  /** The maximum number of seconds of one input. */
  protected get maxDuration(): number {
    return (this.config['maxDuration'] ?? this.defaults['maxDuration']) as number;
  }

  /** The minimum number of samples that the model takes. */
  protected get leastSamples(): number {
    return 0;
  }

  /** The samples of each row, if the model fixes them. */
  protected get fixedLength(): number | undefined {
    const length = this.inputInfo.dims[1];
    return typeof length === 'number' ? length : undefined;
  }

  /** Converts sound to the model's input. */
  override async preprocess(data: readonly Row<AudioInput>[], context: Context): Promise<Tensors> {
    const rows: Float32Array[] = [];
    for (const [index, item] of data.entries()) {
      try {
        rows[index] = await this.#readRow(unwrap(item), index, context);
        this.checkLength(rows[index].length);
      } catch (error) {
        rows[index] = new Float32Array(0);
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
    }
    this.#counts.set(
      context,
      rows.map(({ length }) => length),
    );
    const length = this.fixedLength ?? Math.max(...rows.map((row) => row.length));
    return { [this.inputInfo.name]: padded(rows, length) };
  }

  /**
   * Opens the sound of row `index`. A subclass overrides it to change the sound.
   * @throws `invalid-input` if it is no sound, or cannot be decoded
   */
  protected async openRow(input: AudioInput, _index: number, _context: Context): Promise<Recording> {
    return await openAudio(input);
  }

  /** @throws `invalid-input` if it has fewer than `leastSamples` */
  async #readRow(input: AudioInput, index: number, context: Context): Promise<Float32Array> {
    const recording = await this.openRow(input, index, context);
    const samples = await readAudio(recording, this.sampleRate, this.maxDuration, context);
    if (samples.length >= this.leastSamples) return samples;
    throw new TabServeError(
      'invalid-input',
      `The audio has ${samples.length} samples at ${this.sampleRate} Hz, and the model needs at least ${this.leastSamples}.`,
    );
  }

  /** @throws `invalid-input` for more samples than the model fixes */
  protected checkLength(samples: number): void {
    const fixed = this.fixedLength;
    if (fixed === undefined || samples <= fixed) return;
    throw new TabServeError(
      'invalid-input',
      `The audio has ${samples} samples, and the model takes ${fixed}. Pass a part of it.`,
    );
  }

  /** Returns the number of samples in a row; those after it are padding. */
  protected sampleCount(index: number, context: Context): number {
    return this.#counts.get(context)?.[index] ?? 0;
  }
}

/** @throws `invalid-input` if the batch has more samples than a tensor may have */
function padded(rows: readonly Float32Array[], length: number): Tensor<'float32'> {
  if (rows.length * length > MAX_TENSOR_ELEMENTS)
    throw new TabServeError(
      'invalid-input',
      `The batch has ${rows.length} rows of ${length} samples, and the limit is ${MAX_TENSOR_ELEMENTS} together. Pass shorter audio.`,
    );
  const [only] = rows;
  if (rows.length === 1 && only!.length === length) return { dtype: 'float32', dims: [1, length], data: only! };
  const data = new Float32Array(rows.length * length);
  for (const [index, row] of rows.entries()) data.set(row, index * length);
  return { dtype: 'float32', dims: [rows.length, length], data };
}
