import type { Context } from '../../../contract/handler.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { nextTask } from '../../../shared/next-task.js';
import { AudioHandler } from '../../handlers/audio-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { numbersOf } from '../../outputs/rows.js';
import { concat } from '../../tensors/tensors.js';
import { readFeatures, type SoundFeatures } from '../../handlers/sound-features.js';

/**
 * Runs an encoder of sound, which has one output for a whole recording. The rows of a batch run one after the other, so
 * that padding changes no answer.
 */
export abstract class SoundHandler<Result> extends AudioHandler<Result> {
  /** The example is for the model: `inference` makes its features of the rows. */
  readonly exampleIsForModel = true;

  #features!: SoundFeatures;

  /** The handler's name, for messages. */
  protected abstract readonly handlerName: string;

  /**
   * Opens the model, and reads how sound becomes its input.
   * @throws `model-config` if the files say what cannot be done here, or what the model does not take; `model-format`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const others = this.otherInputs;
    if (this.config['inputName'] === undefined)
      this.inputInfo = this.model.inputs.find(({ name }) => !others.includes(name)) ?? this.inputInfo;
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    this.#features = await readFeatures(context.files, this.model, this.inputInfo, {
      handler: this.handlerName,
      warn: context.warn,
      sampleRate: this.config['sampleRate'],
      extractor: this.extractorOf(context),
      otherInputs: this.otherInputs,
    });
  }

  /** The model's inputs that are none of sound: `runRow` and `example` fill them. */
  protected get otherInputs(): readonly string[] {
    return [];
  }

  /** Runs the model on one recording. */
  protected async runRow(sound: Tensors, { signal }: Context): Promise<Tensors> {
    return await this.model.run(sound, { signal });
  }

  /** Returns what takes the place of `preprocessor_config.json`; undefined for what the file says. */
  protected extractorOf(_context: Context): Json | undefined {
    return undefined;
  }

  protected override get sampleRate(): number {
    return this.#features.sampleRate ?? super.sampleRate;
  }

  protected override get fixedLength(): number | undefined {
    const length = this.#features.areSamples ? this.inputInfo.dims.at(-1) : undefined;
    return typeof length === 'number' ? length : undefined;
  }

  override example(_context: Context): Tensors {
    return this.#features.feeds(new Float32Array(this.fixedLength ?? this.sampleRate));
  }

  /** Those of the model's first frame. */
  protected override get leastSamples(): number {
    return this.#features.leastSamples;
  }

  /** Runs the model on each row alone. A row that has failed has the output of another. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const { data, dims } = inputs[this.inputInfo.name]!;
    const [rows, length] = dims as readonly [number, number];
    const { name } = this.outputInfo;
    const outputs: (Tensor | undefined)[] = [];
    for (let index = 0; index < rows; index++) {
      if (context.failures.has(index)) continue;
      const start = index * length;
      const count = this.fixedLength ?? this.sampleCount(index, context);
      const samples = (data as Float32Array).subarray(start, start + count);
      const found = await this.runRow(this.#features.feeds(samples), context);
      outputs[index] = numbersOf(found, name);
      context.heartbeat();
      await nextTask();
    }
    const first = outputs.find((output) => output !== undefined)!;
    return { [name]: concat(Array.from({ length: rows }, (_, index) => outputs[index] ?? first)) };
  }
}
