/** What pipelines take, as handlers take it. */
import { TabServeError } from '../../contract/errors.js';

/** transformers.js takes samples at the rate of the model; those of speech have this one, in hertz. */
const SAMPLE_RATE = 16_000;

/** Returns a list of inputs, and whether the caller has passed a list. */
export function listOf(input: unknown): { readonly inputs: readonly unknown[]; readonly isList: boolean } {
  return Array.isArray(input) ? { inputs: input, isList: true } : { inputs: [input], isList: false };
}

/** Downloads what is named by a URL; anything else is returned as it is. @throws `network` */
export async function fileOf(input: unknown): Promise<unknown> {
  if (typeof input !== 'string' && !(input instanceof URL)) return input;
  try {
    const response = await fetch(input);
    if (response.ok) return await response.blob();
    throw new TabServeError('network', `${String(input)}: the server answers ${response.status}.`);
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('network', `${String(input)} cannot be downloaded.`, { cause });
  }
}

/** Returns a recording: a file by its URL, or samples of 16 kHz. @throws `network` */
export async function soundOf(input: unknown): Promise<unknown> {
  return input instanceof Float32Array ? { samples: input, sampleRate: SAMPLE_RATE } : await fileOf(input);
}

/** Returns numbers: a list of them, or a file of float32 by its URL. @throws `invalid-input`, `network` */
export async function floatsOf(input: unknown): Promise<Float32Array> {
  if (input instanceof Float32Array) return input;
  const file = await fileOf(input);
  if (!(file instanceof Blob) || file.size % 4 !== 0)
    throw new TabServeError('invalid-input', 'Expected a Float32Array, or the URL of a file of float32.');
  return new Float32Array(await file.arrayBuffer());
}

/** Returns params with handlers' names: those of transformers.js have underscores. */
export function camelCased(params: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

/**
 * Returns the options of a call that it reads itself.
 * @param known their names
 * @throws `invalid-input` for others
 */
export function knownOptions<Options extends object>(
  options: Options | undefined,
  known: readonly (keyof Options & string)[],
): Options {
  const unknown = Object.keys(options ?? {}).find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return options ?? ({} as Options);
  throw new TabServeError('invalid-input', `${unknown}: this pipeline takes ${known.join(', ') || 'no options'}.`);
}
