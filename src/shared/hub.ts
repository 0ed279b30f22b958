/** The Hub of Hugging Face: the addresses that people paste, and the servers that it sends to. */
import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { HUB_ENDINGS } from '../contract/precisions.js';

const HUB = 'https://huggingface.co';
/** Its short name, which answers as the Hub does. */
const SITES: ReadonlySet<string> = new Set([HUB, 'https://hf.co', 'https://www.huggingface.co']);
const SERVERS = /^https:\/\/(?:[a-z\d-]+\.)*(?:huggingface\.co|hf\.co)$/;

/** Names of an organization or a user, and of a repository. */
const NAMES = /^[\w.-]+\/[\w.-]+$/;
/** `hf:ORG/NAME@REVISION`. */
const SHORT = /^hf:(?:\/\/)?([\w.-]+\/[\w.-]+)(?:@(.+))?$/i;
/** What else is at the Hub below a first name. */
const OTHERS: Readonly<Record<string, string>> = {
  datasets: 'a dataset, not a model',
  spaces: 'a Space, which is an app, not a model',
  papers: 'a paper, not a model',
  collections: 'a collection, not a model',
};
const MODEL_FILE = /([^/]+)\.onnx$/i;

/** A repository's folder, and what else its address says. */
export interface HubFolder {
  /** `https://huggingface.co/ORG/NAME/resolve/REVISION/`, with the subfolder. */
  readonly url: URL;
  /** The precision of the model's file that the address names. */
  readonly dtype: string | undefined;
}

/** A folder of a repository, at a revision. */
export interface HubRepository {
  /** `ORG/NAME`. */
  readonly name: string;
  /** As its addresses have it: a slash is encoded. */
  readonly revision: string;
  /** The path in the repository, with a slash at its end; `''` for the repository itself. */
  readonly folder: string;
}

/** Returns whether a URL is of the Hub itself. */
export function isHub({ origin }: URL): boolean {
  return SITES.has(origin);
}

/** Returns whether an origin is the Hub's, or one of the servers that it sends files from. */
export function isHubServer(origin: string): boolean {
  return SERVERS.test(origin);
}

/** Returns the Hub's address of `hf:ORG/NAME@REVISION`; undefined for what does not begin with `hf:`. @throws `model-config` */
export function fromShortForm(text: string, option: string): URL | undefined {
  if (!/^hf:/i.test(text)) return undefined;
  const [, name, revision] = SHORT.exec(text) ?? [];
  if (name === undefined)
    throw new TabServeError(
      'model-config',
      `${option}: expected hf:ORG/NAME or hf:ORG/NAME@REVISION, got ${describeValue(text)}.`,
    );
  return folderUrl(name, revision);
}

/**
 * Reads the address of a repository's page, of one of its folders, or of a page about one of its ONNX files. Returns
 * undefined for any other URL, such as that of a file to download.
 * @param option its name, for the message
 * @throws `model-config` for what is at the Hub and no model
 */
export function readHubUrl(url: URL, option: string): HubFolder | undefined {
  if (!isHub(url)) return undefined;
  const [first = '', second = '', kind, ...rest] = url.pathname.split('/').slice(1);
  const wrong = (why: string): TabServeError =>
    new TabServeError('model-config', `${option}: ${url.href} is ${why}. Name a model: ${HUB}/ORG/NAME.`);
  if (Object.hasOwn(OTHERS, first)) throw wrong(OTHERS[first]!);
  const path = rest.filter((name) => name !== '');
  const [revision = 'main', ...below] = path;
  if (second === '' && first !== '' && kind === undefined)
    throw wrong('the page of a user or an organization, not of a model');
  if (!NAMES.test(`${first}/${second}`) || first === 'api') return undefined;
  const name = `${first}/${second}`;
  if (kind === undefined || kind === '') return { url: folderUrl(name), dtype: undefined };
  if (kind === 'tree') return { url: folderUrl(name, revision, below), dtype: undefined };
  if (kind !== 'blob') return undefined;
  const folder = below.slice(0, -1);
  const file = MODEL_FILE.exec(below.at(-1) ?? '')?.[1];
  if (file === undefined) return { url: folderUrl(name, revision, folder), dtype: undefined };
  // Exporters put the models into a folder of their own, below that of the config.
  const root = folder.at(-1) === 'onnx' ? folder.slice(0, -1) : folder;
  return { url: folderUrl(name, revision, root), dtype: precisionOf(file) };
}

/** Reads the address of a repository's folder, or of a file in it, in the form of `HubFolder`; undefined for any other URL. */
export function hubRepositoryOf(url: URL): HubRepository | undefined {
  if (!isHub(url)) return undefined;
  const [org, name, kind, revision, ...path] = url.pathname.split('/').slice(1);
  if (kind !== 'resolve' || revision === undefined || path.length === 0) return undefined;
  const folder = path.slice(0, -1).map((part) => `${decodeURIComponent(part)}/`);
  return { name: `${org}/${name}`, revision, folder: folder.join('') };
}

/** Returns the URL of the same folder or file, at a commit. */
export function atCommit(url: URL, commit: string): URL {
  const pinned = new URL(url);
  pinned.pathname = pinned.pathname.replace(/\/resolve\/[^/]+\//, `/resolve/${commit}/`);
  return pinned;
}

/** Returns a URL of the Hub in the form that all of its names share: at huggingface.co, and without `download`. */
export function normalizedHubUrl(url: URL): URL {
  const own = new URL(url);
  own.host = new URL(HUB).host;
  own.searchParams.delete('download');
  return own;
}

/** Returns the precision that a file's name ends with; `fp32` without such an ending. */
function precisionOf(file: string): string {
  const found = Object.entries(HUB_ENDINGS)
    .flatMap(([precision, endings]) => endings.map((ending) => [precision, ending] as const))
    .filter(([, ending]) => file.endsWith(ending))
    .toSorted(([, a], [, b]) => b.length - a.length)[0];
  return found![0];
}

function folderUrl(name: string, revision = 'main', below: readonly string[] = []): URL {
  // A revision such as refs/pr/1 is one name here; the page's address has it encoded already.
  const own = revision.includes('/') ? encodeURIComponent(revision) : revision;
  return new URL(`${HUB}/${[name, 'resolve', own, ...below].join('/')}/`);
}
