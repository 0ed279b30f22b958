/** The Hub of Hugging Face: the addresses that people paste, and the servers that it sends to. */
import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { HUB_ENDINGS, HUB_PRECISIONS } from '../contract/precisions.js';

const HUB = 'https://huggingface.co';
/** Its names, which answer alike, also without the scheme, which browsers hide. */
const SITE = /^\s*(?:https?:\/\/)?(?:www\.)?(?:huggingface|hf)\.co(?![^/?#])/i;
const SERVERS = /^https:\/\/(?:[a-z\d-]+\.)*(?:huggingface\.co|hf\.co)$/;

/** Names of an organization or a user, and of a repository. */
const NAMES = /^\w[\w.-]*\/\w[\w.-]*$/;
const SHORT = /^hf:(?:\/\/)?(\w[\w.-]*\/\w[\w.-]*)(?:@([^?#]+))?$/i;
/** What else is at the Hub below a first name. */
const OTHERS = /^(?:dataset|space|paper|collection)s$/;
/** What an address to download from has after a repository's name, or after the only name of an old one. */
const DOWNLOAD = /^(?:\/[^/]+){1,2}\/(?:resolve|raw)\//;

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
  return origin === HUB;
}

/** Returns whether an origin is the Hub's, or one of the servers that it sends files from. */
export function isHubServer(origin: string): boolean {
  return SERVERS.test(origin);
}

/**
 * Returns an address of the Hub in one form: `https://huggingface.co/…` for each of the Hub's names, and a repository's
 * page for `hf:ORG/NAME@REVISION`. Any other text is returned as it is.
 * @param option its name, for the message
 * @throws `model-config` for another text that begins with `hf:`
 */
export function hubAddress(text: string, option: string): string {
  if (!/^hf:/i.test(text)) return text.replace(SITE, HUB);
  const [, name, revision = 'main'] = SHORT.exec(text) ?? [];
  if (name === undefined)
    throw new TabServeError(
      'model-config',
      `${option}: expected hf:ORG/NAME or hf:ORG/NAME@REVISION, got ${describeValue(text)}.`,
    );
  // A revision such as refs/pr/1 is one name of the path.
  return `${HUB}/${name}/tree/${revision.replaceAll('/', '%2F')}`;
}

/**
 * Reads the address of a repository's page, of one of its folders, or of a page about one of its ONNX files. Returns
 * undefined for any other site, and for a file to download.
 * @param option its name, for the message
 * @throws `model-config` for what is at the Hub and no model
 */
export function readHubUrl(url: URL, option: string): HubFolder | undefined {
  if (!isHub(url)) return undefined;
  const [first = '', second = '', kind = '', ...rest] = url.pathname.split('/').slice(1);
  const wrong = (why: string): TabServeError =>
    new TabServeError('model-config', `${option}: ${url.href} is ${why}, not a model. Name a model: ${HUB}/ORG/NAME.`);
  if (OTHERS.test(first)) throw wrong(`a ${first.slice(0, -1)}`);
  if (DOWNLOAD.test(url.pathname)) return undefined;
  const name = `${first}/${second}`;
  if (!NAMES.test(name) || !/^(?:tree|commit|blob)?$/.test(kind)) throw wrong('a page of the Hub');
  const [revision = 'main', ...below] = rest.filter(Boolean);
  const file = kind === 'blob' ? below.pop() : undefined;
  // Exporters put the models into a folder of their own, below that of the config.
  if (below.at(-1) === 'onnx') below.pop();
  const dtype = precisionOf(file);
  if (!dtype && file?.endsWith('.onnx'))
    throw new TabServeError(
      'model-config',
      `${option}: ${file} has no known precision. It opens alone: ${url.href.replace('/blob/', '/resolve/')}`,
    );
  return { url: new URL(`${HUB}/${[name, 'resolve', revision, ...below].join('/')}/`), dtype };
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

/**
 * Returns the precision that the name of an ONNX file ends with: `fp32` without such an ending. Undefined for another
 * file, and if the rest of the name says something else, as Optimum's `model_O4` and `model_qint8_avx512` do.
 */
function precisionOf(file = ''): string | undefined {
  return HUB_PRECISIONS.findLast((precision) =>
    HUB_ENDINGS[precision].some((ending) => {
      const end = `${ending}.onnx`;
      return file.endsWith(end) && !/[\dA-Z]/.test(file.slice(0, -end.length));
    }),
  );
}
