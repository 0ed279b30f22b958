/** What pipelines take, as handlers take it. */
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { isPlainObject } from '../../shared/is-plain-object.js';

/** transformers.js takes samples at the rate of the model; those of speech have this one, in hertz. */
const SAMPLE_RATE = 16_000;

/** A repository of the Hub by its name alone: its owner's name does not begin with a dot, as a relative path may. */
const REPOSITORY = /^[\w-][\w.-]*\/[\w.-]+$/;

/**
 * Returns what `load` opens: the address of a repository that is given by its name, anything else as it is.
 * @throws `invalid-input` for the revision of what is no repository's name
 */
export function addressOf<Model>(model: Model, revision: string | null | undefined): Model | string {
  if (typeof model === 'string' && REPOSITORY.test(model)) return `hf:${model}${revision ? `@${revision}` : ''}`;
  if (!revision) return model;
  throw new TabServeError(
    'invalid-input',
    `revision: it belongs to a repository that is given by its name, ORG/NAME; got ${describeValue(model)}. Write the revision into the address.`,
  );
}

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
    throw new TabServeError('network', `${String(input)}: the server answers ${response.status}. Check the address.`);
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError(
      'network',
      `"${String(input)}" cannot be downloaded. Check the address, or pass the file itself as a Blob.`,
      { cause },
    );
  }
}

/** Returns a recording: a file by its URL, or samples. @param sampleRate of samples @throws `network` */
export async function soundOf(input: unknown, sampleRate = SAMPLE_RATE): Promise<unknown> {
  return input instanceof Float32Array ? { samples: input, sampleRate } : await fileOf(input);
}

/** Returns numbers: a list of them, or a file of float32 by its URL. @throws `invalid-input`, `network` */
export async function floatsOf(input: unknown): Promise<Float32Array> {
  if (input instanceof Float32Array) return input;
  const file = await fileOf(input);
  if (!(file instanceof Blob) || file.size % 4 !== 0)
    throw new TabServeError('invalid-input', 'Expected a Float32Array, or the URL of a file of float32.');
  return new Float32Array(await file.arrayBuffer());
}

/** Returns the options of a call: none if they are undefined or null. @throws `invalid-input` for another value */
export function optionsOf<Options extends object>(options: Options | null | undefined): Partial<Options> {
  if (options === undefined || options === null) return {};
  if (isPlainObject(options)) return options as Options;
  throw new TabServeError('invalid-input', `options: expected an object, got ${describeValue(options)}.`);
}

/** Returns params with handlers' names: those of transformers.js have underscores. @throws `invalid-input` */
export function camelCased(params: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(optionsOf(params)).map(([name, value]) => [
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
  options: Options | null | undefined,
  known: readonly (keyof Options & string)[],
): Partial<Options> {
  const given = optionsOf(options);
  const unknown = Object.keys(given).find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return given;
  throw new TabServeError('invalid-input', `${unknown}: this pipeline takes ${known.join(', ') || 'no options'}.`);
}
