import { expose, VoiceActivityDetector, type Context, type Tensors, type VoiceActivity } from '../../../src/worker.ts';
import { happen } from './happen.ts';

/** The built-in detector, but a request may end its worker. */
class FaultyVoice extends VoiceActivityDetector {
  override async postprocess<Row extends VoiceActivity = VoiceActivity>(
    outputs: Tensors,
    context: Context,
  ): Promise<readonly Row[]> {
    await happen('postprocess', context);
    return await super.postprocess<Row>(outputs, context);
  }
}

expose(FaultyVoice);
