/** The vectors of texts that images or sounds are compared with: the part for texts of a model such as CLIP or CLAP. */
import { PredictionError, TabServeError } from '../../contract/errors.js';
import type { Context, NodeHandler } from '../../contract/handler.js';
import type { OutputInfo } from '../../contract/tensors.js';
import type { Embedding } from '../outputs/embedding.js';
import { transferResult } from '../outputs/transfer.js';
import { loadHandler, type HandlerOf } from './registry.js';
import type { TextInput } from './text-handler.js';

/** SigLIP's parts have no projection. */
const POOLED = 'pooler_output';

/** Returns whether a row is a text, and not an image or a sound. */
export function isText(input: unknown): input is TextInput {
  if (input instanceof Blob) return input.type.startsWith('text/');
  return typeof input === 'string' || (typeof input === 'object' && input !== null && 'text' in input);
}

/** The node `text`. */
export type TextPart = NodeHandler<HandlerOf<'text_feature_extractor'>>;

/** Returns the output with the vector that both parts are compared by. @throws `model-config` if there is none */
export function vectorOutput(outputs: readonly OutputInfo[], name: string): OutputInfo {
  const found = [name, POOLED].flatMap((one) => outputs.filter((output) => output.name === one))[0];
  if (found) return found;
  throw new TabServeError(
    'model-config',
    `The model has no output "${name}" or "${POOLED}", by which it is compared with its other part; it has ${outputs.map((output) => `"${output.name}"`).join(', ')}. Export it with its projection.`,
  );
}

/** Opens the node `text`. */
export async function openTextPart(context: Context): Promise<TextPart> {
  const Texts = await loadHandler('text_feature_extractor');
  return await context.openHandler(
    'text',
    class extends Texts {
      override async initialize(own: Context): Promise<void> {
        await super.initialize(own);
        this.outputInfo = vectorOutput(this.model.outputs, 'text_embeds');
      }
    },
  );
}

/** Returns the vectors of texts: the cached ones, and those that the part computes for the others. */
export async function textVectors(
  part: TextPart,
  texts: readonly TextInput[],
  context: Context,
): Promise<readonly (Embedding | PredictionError)[]> {
  const vectors = texts.map((text): Embedding | PredictionError | undefined => {
    const cached = context.kept.get(keyOf(text)) as Embedding | undefined;
    return cached && transferred(cached.slice());
  });
  const places = [...vectors.keys()].filter((at) => !vectors[at]);
  const made = await part.handle(
    places.map((at) => texts[at]!),
    context,
  );
  for (const [order, at] of places.entries()) {
    const vector = (vectors[at] = made[order]!);
    const key = keyOf(texts[at]!);
    // The vector itself moves to the page.
    if (key !== undefined && !(vector instanceof PredictionError))
      context.kept.set(key, vector.slice(), { bytes: vector.byteLength + 2 * key.length });
  }
  return vectors as readonly (Embedding | PredictionError)[];
}

/** Returns the key by which the vector of a text is cached; undefined for a file, and for a pair of texts. */
function keyOf(input: TextInput): string | undefined {
  if (typeof input === 'string') return `text/${input}`;
  const isText = !(input instanceof Blob) && Object.keys(input).length === 1;
  return isText && typeof input.text === 'string' ? `text/${input.text}` : undefined;
}

function transferred(vector: Embedding): Embedding {
  return transferResult(vector, [vector.buffer]);
}
