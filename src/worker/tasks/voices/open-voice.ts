import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Session } from '../../../contract/tensors.js';
import { openKokoro } from './kokoro.js';
import { openPiper } from './piper.js';
import { openSpeechT5 } from './speech-t5.js';
import { isSupertonic, openSupertonic } from './supertonic.js';
import { openVits } from './vits.js';
import type { Voice } from './voice.js';

/** Opens a model by its inputs. @throws `model-config` if it is none that speaks */
export async function openVoice(
  model: Session,
  context: Context,
  config: Readonly<Record<string, unknown>>,
): Promise<Voice> {
  const has = (...names: readonly string[]): boolean =>
    names.every((name) => model.inputs.some((input) => input.name === name));
  const rate = config['sampleRate'];
  if (has('output_sequence', 'speaker_embeddings')) return await openSpeechT5(model, context, rate);
  if (isSupertonic(model)) return await openSupertonic(model, context, config);
  if (has('input', 'input_lengths', 'scales')) return await openPiper(model, context, rate);
  if (has('input_ids', 'style', 'speed')) return await openKokoro(model, context, config);
  if (has('input_ids') && model.outputs.some(({ name }) => name === 'waveform'))
    return await openVits(model, context, rate);
  const names = (infos: readonly { readonly name: string }[]): string =>
    infos.map(({ name }) => `"${name}"`).join(', ');
  throw new TabServeError(
    'model-config',
    `text_to_speech runs VITS, SpeechT5, Kokoro, Piper and Supertonic. This model is none of them: its inputs are ${names(model.inputs)}, its outputs ${names(model.outputs)}.`,
  );
}
