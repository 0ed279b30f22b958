/** The `nodes` of a workflow's config: what they name, and where their archives are. */
import type { Archive, ModelConfig } from '../../contract/archive.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { formatOf, isPacked, locateFile, readModelUrl } from '../../shared/model-url.js';
import { wrongValue } from '../../shared/read-options.js';
import { isRecord } from '../../shared/schema.js';
import { isPlain } from './sources/listing.js';

/** A node, as `nodes` describes it. */
export interface NodeEntry {
  readonly name: string;
  /** A path in the workflow's archive, or a URL. */
  readonly archive: string;
  readonly handler: string | undefined;
  readonly config: ModelConfig | undefined;
}

/**
 * Where a node's archive is: inside of its workflow's archive, in `folder` (with a slash at the end, or `''`), or at a
 * URL of its own.
 */
export type NodeLocation =
  | { readonly folder: string; readonly file: string | undefined; readonly url: string }
  | { readonly folder: undefined; readonly url: string };

/** A node is named in errors, metrics and timings, where `/` separates it from the nodes of a node. */
const NAME = /^[a-z\d][\w.-]{0,63}$/i;

/** Reads `nodes`. @throws `model-config` naming the key that is wrong */
export function readNodes({ nodes }: ModelConfig): readonly NodeEntry[] {
  if (nodes === undefined) return [];
  if (!isRecord(nodes)) throw wrongValue('nodes', 'a mapping of names to archives', nodes, 'model-config');
  return Object.entries(nodes).map(([name, entry]: [string, unknown]) => {
    const key = `nodes.${shorten(name)}`;
    if (!NAME.test(name))
      throw new TabServeError(
        'model-config',
        `${key}: expected a name of up to 64 letters, digits, "_", "-" and ".", beginning with a letter or a digit.`,
      );
    if (typeof entry === 'string' && entry !== '')
      return { name, archive: entry, handler: undefined, config: undefined };
    if (!isRecord(entry))
      throw wrongValue(
        key,
        'the path or the URL of an archive, or { archive, handler, config }',
        entry,
        'model-config',
      );
    const { archive, handler, config, ...others } = entry;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw new TabServeError(
        'model-config',
        `${key} has the keys archive, handler and config, not "${shorten(unknown)}".`,
      );
    if (typeof archive !== 'string' || archive === '')
      throw wrongValue(`${key}.archive`, 'the path or the URL of an archive', archive, 'model-config');
    if (handler !== undefined && typeof handler !== 'string')
      throw wrongValue(`${key}.handler`, 'the name of a built-in handler', handler, 'model-config');
    if (config !== undefined && !isRecord(config))
      throw wrongValue(`${key}.config`, 'a mapping of keys to values', config, 'model-config');
    return { name, archive, handler, config: config as ModelConfig | undefined };
  });
}

/** A URL with its scheme. */
const ABSOLUTE = /^[a-z][a-z\d+.-]*:/i;

/**
 * Returns where a node's archive is.
 * @throws `model-format` for a path that leads out of an archive at hand; `model-config` for what is neither a path nor
 *   a URL
 */
export function locateNode(
  { name, archive: path }: NodeEntry,
  { url, local }: Pick<Archive, 'url' | 'local'>,
): NodeLocation {
  if (ABSOLUTE.test(path)) return { folder: undefined, url: readModelUrl(path, `nodes.${name}`).url.href };
  const plain = path
    .replace(/^(\.\/)+/, '')
    .replace(/\/$/, '')
    .normalize();
  if (isPlain(plain)) {
    const file = isPacked(plain) || formatOf(plain) ? plain.split('/').at(-1)! : undefined;
    const folder = file === undefined ? `${plain}/` : plain.slice(0, plain.length - file.length);
    return {
      folder,
      file,
      url: local
        ? `${url.replace(/\/$/, '')}/${plain}`
        : locateFile(readModelUrl(url), file === undefined ? folder : plain).href,
    };
  }
  if (local || !URL.canParse(path, url))
    throw new TabServeError(
      'model-format',
      `nodes.${name}: "${shorten(path)}" lies outside of the archive. Name a path inside of it, or a URL.`,
    );
  return { folder: undefined, url: readModelUrl(new URL(path, url).href, `nodes.${name}`).url.href };
}
