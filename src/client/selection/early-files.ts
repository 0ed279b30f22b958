import { formatsKey, type ModelFormat } from '../../contract/backends.js';
import { LARGEST_LABELS } from '../../contract/limits.js';
import type { EarlyFile } from '../../contract/wire.js';
import { LABELS } from '../../shared/archive-paths.js';
import { countBytes } from '../../shared/count-bytes.js';
import { withinLimit } from '../../shared/limit.js';
import { formatOf, locateFile } from '../../shared/model-url.js';
import { discard } from '../../shared/request-policy.js';
import type { Asked, AskedFile } from '../ask-early.js';

/** How long the page's own requests may take, in milliseconds. Then the worker asks again, and retries. */
const LONGEST_MS = 5000;

/** What the page has asked for: answers that a worker takes in place of its own requests. Neither promise rejects. */
export interface EarlyFiles {
  /** The formats of the archive's model, by `formatsKey`; undefined if its files do not say. */
  readonly formats: Promise<string | undefined>;
  /** Without those that failed. */
  readonly files: Promise<readonly EarlyFile[]>;
}

/** What is read of an archive's files here. The worker reads it too, and checks it. */
interface Facts {
  readonly formats: readonly (ModelFormat | undefined)[];
  readonly configFile: string | undefined;
}

/** Reads what the page has asked for, and asks for the config and the labels as soon as the manifest is there. */
export function readEarly(asked: Asked | undefined, signal: AbortSignal | undefined): EarlyFiles {
  if (!asked) return { formats: Promise.resolve(undefined), files: Promise.resolve([]) };
  const read = (file: AskedFile): Promise<EarlyFile | undefined> =>
    withinLimit('The server', () => readAnswer(file), { milliseconds: LONGEST_MS, signal }).catch(() => undefined);
  const first = Promise.all(asked.files.map(read));
  const facts = first.then((files) => readFacts(files)).catch(() => undefined);
  const others = facts.then((known) => {
    const paths = known ? [known.configFile, LABELS] : [];
    const urls = paths.flatMap((path) => (path ? locateFile({ url: asked.folder, file: undefined }, path) : []));
    return Promise.all(urls.map((url) => read(asked.ask(url))));
  });
  const found = Promise.all([first, others.catch(() => [])]);
  return {
    formats: facts.then((known) => known && formatsKey(known.formats.filter((format) => format !== undefined))),
    files: found.then((files) => files.flat().filter((file) => file !== undefined)),
  };
}

/** Only a file, and the answer that there is none, say the same to the page as they would to the worker. @throws if it is neither, or too large */
async function readAnswer({ url, response }: AskedFile): Promise<EarlyFile> {
  const answer = await response;
  const { status, headers, body } = answer;
  if (status === 404) discard(answer);
  else if (status !== 200 || !body) throw new Error(`the server answered ${status}`);
  const counted = status === 404 ? null : countBytes(body!, checkSize);
  return { url, status, headers: [...headers], body: await new Response(counted).arrayBuffer() };
}

function checkSize(bytes: number): void {
  if (bytes > LARGEST_LABELS) throw new Error(`it has more than ${LARGEST_LABELS} bytes`);
}

/** @throws if anything is not as it should be */
function readFacts([manifest, extras]: readonly (EarlyFile | undefined)[]): Facts {
  const { serializedFile, configFile } = (json(manifest!) as { model: Record<string, string | undefined> }).model;
  const { models } = (extras!.status === 404 ? {} : json(extras!)) as { readonly models?: object };
  const formats = models ? (Object.keys(models) as ModelFormat[]) : [formatOf(serializedFile ?? '')];
  return { formats, configFile };
}

function json({ body }: EarlyFile): unknown {
  return JSON.parse(new TextDecoder().decode(body));
}
