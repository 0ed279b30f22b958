import type { Browser, BrowserContext, Page } from '@playwright/test';
import { checkNamesHandler, locate } from '../cli/local-archive.js';
import type { Archive } from '../contract/archive.js';
import {
  BACKENDS,
  BROWSER_CANDIDATES,
  type BackendName,
  type CandidateName,
  type EngineName,
  type Probe,
} from '../contract/backends.js';
import { messageOf, TabServeError } from '../contract/errors.js';
import { loadHandler } from '../handlers/registry.js';
import { fetchWorkflow } from '../models/fetch.js';
import { withinLimit } from '../shared/limit.js';
import { nearestName } from '../shared/nearest-name.js';
import { openOn, type Found, type Task } from './in-page.js';
import { serveArchive, type Site } from './site.js';
import { conclude, judge, type BackendResult } from './verdict.js';

/** What `tabserve.run` takes beside the archive. */
export interface RunOptions {
  /**
   * The backends that must run the archive, e.g. `['webgpu', 'onnx/wasm']`; none of them may be skipped.
   * @default every one for which the archive has a model, except plain JavaScript
   */
  readonly backends?: readonly (BackendName | CandidateName)[];
  /** What the handler is asked on each backend: a file's bytes, which it gets as a Blob, or a value that JSON can hold. @default it is only opened, proven and measured */
  readonly input?: unknown;
  /** URL of the script of a worker with a handler of the app's own, relative to Playwright's `baseURL`. @default the built-in worker */
  readonly worker?: string;
  /** Seconds that a backend may take for everything. @default 120 */
  readonly timeout?: number;
}

/** A handler of the app's own. */
export interface AppWorker {
  /** The script, and the page that starts it. */
  readonly script: string;
  readonly page: string;
}

export interface RunSettings {
  readonly browser: Browser;
  readonly archive: string;
  readonly backends: readonly CandidateName[];
  readonly isNamed: boolean;
  readonly timeout: number;
  readonly input?: unknown;
  readonly app?: AppWorker | undefined;
  /** Called with each result as soon as it is there. A skip may still become a failure, if no backend is right. */
  readonly onResult?: (result: BackendResult, probe: Probe | undefined) => void;
}

export const DEFAULT_TIMEOUT = 120;

/** For a page that does not settle by itself, as one that has crashed. */
const GRACE_MS = 15_000;

/**
 * Reads an archive on disk under Node, before any browser is started.
 * @param isBuiltIn whether a built-in handler runs it
 * @throws what is wrong with it: `model-not-found`, `model-format`, `model-config`, `unknown-handler`, `unsupported`
 */
export async function readForTest(path: string, isBuiltIn: boolean): Promise<Archive> {
  const archive = await fetchWorkflow(await locate(path), { fetch: globalThis.fetch });
  if (isBuiltIn) {
    checkNamesHandler(archive, path);
    await loadHandler(archive.manifest.model.handler).catch((cause: unknown) => {
      throw new TabServeError(
        'unknown-handler',
        `${messageOf(cause as Error)} The fixture of tabserve/testing runs an archive in a worker of the app: docs/testing.md.`,
        { cause },
      );
    });
  }
  return archive;
}

/** Returns the candidates to run. @throws `model-config` for a name that is neither a backend nor a candidate, or for one whose format the archive lacks */
export function chooseBackends(
  engines: readonly EngineName[],
  named: readonly string[] | undefined,
): readonly CandidateName[] {
  const possible = BROWSER_CANDIDATES.filter((name) => engines.includes(name.split('/')[0] as EngineName));
  if (named === undefined) return possible.filter((name) => name !== 'tfjs/cpu');
  const known: readonly string[] = [...BACKENDS, ...BROWSER_CANDIDATES];
  const wanted = named.flatMap((name): readonly CandidateName[] => {
    if (!known.includes(name)) {
      const meant = nearestName(name, known);
      throw new TabServeError(
        'model-config',
        `"${name}" is neither a backend nor a candidate; ${meant === undefined ? `expected one of ${known.join(', ')}` : `probably ${meant} is meant`}.`,
      );
    }
    const found = possible.filter((one) => one === name || one.endsWith(`/${name}`));
    if (found.length === 0)
      throw new TabServeError(
        'model-config',
        `The archive has no model for ${name}; it runs on ${possible.join(', ')}.`,
      );
    return found;
  });
  const chosen = new Set(wanted);
  return possible.filter((name) => chosen.has(name));
}

/** Runs an archive on each backend, in a page of its own. A backend that crashes or hangs does not stop the others. */
export async function runArchive(settings: RunSettings): Promise<readonly BackendResult[]> {
  const { archive, input, app, browser, backends, isNamed, onResult } = settings;
  const bytes = input instanceof Uint8Array ? input : undefined;
  await using site = await serveArchive(archive, bytes);
  const context = await browser.newContext();
  try {
    const page = app === undefined ? site.url : await routeThrough(context, app, site);
    const at = (path: string): string => new URL(path, page).href;
    const results: BackendResult[] = [];
    for (const backend of backends) {
      const since = performance.now();
      const found = await tryBackend(context, page, {
        client: at(site.client),
        model: at(site.archive),
        worker: app?.script,
        backend,
        timeout: settings.timeout,
        input: bytes ? { file: at(site.input) } : input === undefined ? undefined : { value: input },
      });
      // The server's address differs in every run, and a report is compared with earlier ones.
      const told = found.ok ? found : { ...found, message: found.message.replaceAll(at(site.archive), '') };
      const result = judge(backend, told, (performance.now() - since) / 1000);
      results.push(result);
      onResult?.(conclude([result], isNamed)[0]!, found.probe);
    }
    return conclude(results, isNamed || !results.some(({ verdict }) => verdict === 'right'));
  } finally {
    await context.close().catch(() => {});
  }
}

async function tryBackend(context: BrowserContext, url: string, task: Task): Promise<Found> {
  const limit = { milliseconds: task.timeout * 1000 + GRACE_MS };
  let page: Page | undefined;
  try {
    return await withinLimit(
      'The page',
      async () => {
        page = await context.newPage();
        await page.goto(url);
        return await page.evaluate(openOn, task);
      },
      limit,
    );
  } catch (error) {
    const message = messageOf(error);
    return {
      ok: false,
      code: 'worker-lost',
      cause: undefined,
      message: `The page failed: ${message}`,
      probe: undefined,
    };
  } finally {
    await withinLimit('The page', () => page?.close(), { milliseconds: GRACE_MS }).catch(() => {});
  }
}

/**
 * Serves the site on the app's own origin too, because a browser starts no worker of another origin. The page has the headers of the app's page, and nothing of its content.
 * @returns the URL of the page
 */
async function routeThrough(context: BrowserContext, app: AppWorker, site: Site): Promise<string> {
  const folder = new URL('/__tabserve__/', app.page).href;
  await context.route(`${folder}**`, async (route) => {
    const wanted = route.request().url();
    if (wanted !== folder)
      return await route.fulfill({ response: await route.fetch({ url: wanted.replace(folder, site.url) }) });
    const response = await route.fetch({ url: app.page });
    return await route.fulfill({
      response,
      status: 200,
      contentType: 'text/html',
      body: '<!doctype html><title>TabServe</title>',
    });
  });
  return folder;
}
