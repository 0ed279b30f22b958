import type { AudioInput } from '../../contract/audio.js';
import { asTabServeError } from '../../contract/errors.js';
import type { Context } from '../../contract/handler.js';
import type { HearingProgress } from '../../contract/hearing-progress.js';
import type { Tensors } from '../../contract/tensors.js';
import type { SampleReader } from '../audio/sample-reader.js';
import { AudioHandler } from './audio-handler.js';
import { failUnreadable, Recordings } from './recordings.js';
import { unwrap, type Row } from './row.js';

/**
 * Hears recordings part by part, with a model of parts: an hour takes little more memory than a minute. `preprocess`
 * opens the recordings and returns no tensors; `inference` reads them. If the sound of a row cannot be read, only this
 * row fails.
 */
export abstract class RecordingHandler<Result> extends AudioHandler<Result> {
  declare readonly partType?: HearingProgress;

  /** The example is for the model: `inference` takes recordings. */
  readonly exampleIsForModel = true;

  readonly #recordings = new Recordings();

  protected override begin(context: Context): () => Promise<void> {
    return () => this.#recordings.close(context);
  }

  /** Opens the recordings. */
  override async preprocess(data: readonly Row<AudioInput>[], context: Context): Promise<Tensors> {
    for (const [index, item] of data.entries()) {
      try {
        const { sampleRate, leastSamples: least, maxDuration } = this;
        const recording = await this.openRow(unwrap(item), index, context);
        await this.#recordings.open(recording, index, context, { sampleRate, least, maxDuration });
      } catch (error) {
        context.fail(index, asTabServeError(error, 'preprocess'));
      }
    }
    return {};
  }

  /** Returns the recordings of the rows that have not failed, by their indices. */
  protected recordingsOf(context: Context): readonly (readonly [index: number, reader: SampleReader])[] {
    return this.#recordings.of(context);
  }

  /** Hears one recording after another. A row that cannot be read fails alone. */
  protected async hearRows(
    context: Context,
    hear: (reader: SampleReader, index: number) => Promise<void>,
  ): Promise<void> {
    for (const [index, reader] of this.recordingsOf(context)) {
      try {
        await hear(reader, index);
      } catch (error) {
        failUnreadable(reader, error, index, context);
      }
    }
  }
}
