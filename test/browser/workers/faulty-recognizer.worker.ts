import { expose, SpeechRecognizer, type Context, type SpokenText, type Tensors } from '../../../src/worker.ts';
import { happen } from './happen.ts';

/** The built-in recognizer, but a request may end its worker. */
class FaultyRecognizer extends SpeechRecognizer {
  override async postprocess<Row extends SpokenText = SpokenText>(
    outputs: Tensors,
    context: Context,
  ): Promise<readonly Row[]> {
    await happen('postprocess', context);
    return await super.postprocess<Row>(outputs, context);
  }
}

expose(FaultyRecognizer);
