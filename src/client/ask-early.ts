import { EXTRAS, MANIFEST } from '../shared/archive-paths.js';
import { absoluteUrl } from './url.js';
import type { OpenerOptions } from './worker-opener.js';

/** What the page has asked for of an archive. */
export interface Asked {
  readonly folder: URL;
  /** `MAR-INF/MANIFEST.json` and `tabserve.json`. */
  readonly files: readonly AskedFile[];
  /** Asks for another file. */
  readonly ask: (url: URL) => AskedFile;
}

/** A request that the page has made. */
export interface AskedFile {
  readonly url: string;
  readonly response: Promise<Response>;
}

/**
 * Asks for the files that say which engine a model needs, before the scripts are there that open it, and while the worker's own load. It does so only for a folder of the
 * page's own origin, without settings that say what requests carry and where they may lead. A request that fails is left to the worker, which reports why.
 */
export function askEarly(
  { model, request, allowedOrigins, remote, cache }: OpenerOptions,
  signal: AbortSignal | null = null,
): Asked | undefined {
  if (request || allowedOrigins || remote || !(typeof model === 'string' || model instanceof URL)) return undefined;
  try {
    const folder = new URL(absoluteUrl(model, 'model'));
    if (folder.origin !== location.origin || !folder.pathname.endsWith('/') || folder.search) return undefined;
    const ask = (url: URL): AskedFile => {
      const response = fetch(url, {
        mode: 'same-origin',
        referrerPolicy: 'no-referrer',
        cache: cache === 'none' ? 'default' : 'no-cache',
        signal,
      });
      response.catch(() => {});
      return { url: url.href, response };
    };
    return { folder, files: [MANIFEST, EXTRAS].map((path) => ask(new URL(path, folder))), ask };
  } catch {
    return undefined;
  }
}
