import type { Browser, BrowserContext, Page } from '@playwright/test';
import { checkNamesHandler, locate } from '../cli/local-archive.js';
import type { Archive } from '../../contract/archive.js';
import {
  BACKENDS,
  BROWSER_CANDIDATES,
  type BackendName,
  type CandidateName,
  type EngineName,
  type Probe,
} from '../../contract/backends.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { loadHandler } from '../../worker/handlers/registry.js';
import { uncomparedClass } from '../../worker/models/hugging-face/uncompared.js';
import { fetchWorkflow } from '../../worker/models/fetch.js';
import { withinLimit } from '../../shared/limit.js';
import { nearestName } from '../../shared/nearest-name.js';
import { openOn, type Found, type Task } from './in-page.js';
import { takeFiles } from './input-files.js';
import { serveArchive, type Site } from './site.js';
import { conclude, judge, type BackendResult } from './verdict.js';

/** What `tabserve.run` takes in addition to the archive. */
export interface RunOptions {
  /**
   * The backends that must run the archive, e.g. `['webgpu', 'onnx/wasm']`; none of them may be skipped.
   * @default every one for which the archive has a model, except plain JavaScript
   */
  readonly backends?: readonly (BackendName | CandidateName)[];
  /**
   * What the handler is asked on each backend: a file's bytes (a `Uint8Array`), which it gets as a Blob, or a value
   * that JSON can represent. Lists and objects may have such bytes, too: `{ image: await readFile('photo.jpg'), text:
   * 'a cat' }`.
   * @default it is only opened, proven and measured
   */
  readonly input?: unknown;
  /**
   * URL of the script of a worker with a handler of the app's own, relative to Playwright's `baseURL`.
   * @default the built-in worker
   */
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
  /** Launches another browser, for when a backend has broken this one. @default a new one of the same kind */
  readonly launch?: () => Promise<Browser>;
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

/** For a page that does not settle by itself, as one that has crashed, and for a browser that opens none. */
const GRACE_MS = 15_000;
const OPEN_MS = 30_000;

/**
 * Reads an archive on disk under Node, before any browser is started.
 * @param isBuiltIn whether a built-in handler runs it
 * @throws what is wrong with it: `model-not-found`, `model-format`, `model-config`, `unknown-handler`, `unsupported`
 */
export async function readForTest(path: string, isBuiltIn: boolean): Promise<Archive> {
  const archive = await fetchWorkflow(await locate(path), { fetch: globalThis.fetch, handlerClass: loadHandler });
  if (isBuiltIn) {
    checkNamesHandler(archive, path);
    await loadHandler(archive.manifest.model.handler).catch((cause: unknown) => {
      throw new TabServeError(
        'unknown-handler',
        `${messageOf(uncomparedClass(archive) ?? (cause as Error))} The fixture of tabserve/testing runs an archive in a worker of the app: docs/testing.md.`,
        { cause },
      );
    });
  }
  return archive;
}

/**
 * Returns the candidates to run.
 * @throws `model-config` for a name that is neither a backend nor a candidate, or for one whose format the archive
 *   lacks
 */
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

/** Browsers in which a page has failed: the next page may fail as well, whatever its backend. */
const broken = new WeakSet<Browser>();

/**
 * Runs an archive on each backend, in a page of its own. A backend that crashes or hangs does not stop the others: they
 * get a new browser.
 */
export async function runArchive(settings: RunSettings): Promise<readonly BackendResult[]> {
  const { archive, input, app, browser: first, backends, isNamed, onResult } = settings;
  const { launch = () => first.browserType().launch() } = settings;
  const { value, files } = takeFiles(input);
  await using site = await serveArchive(
    archive,
    files.map(({ bytes }) => bytes),
  );
  let browser = first;
  let context: BrowserContext | undefined;
  let page = site.url;
  const at = (path: string): string => new URL(path, page).href;
  const end = async (): Promise<void> => {
    const closing = browser === first ? context?.close() : browser.close();
    await withinLimit('The browser', () => closing, { milliseconds: GRACE_MS }).catch(() => {});
  };
  const run = async (backend: CandidateName): Promise<Found> => {
    if (broken.has(browser)) {
      await end();
      context = undefined;
      browser = await launch();
    }
    if (!context) {
      context = await browser.newContext();
      if (app) page = await routeThrough(context, app, site);
    }
    return await openInPage(context, page, {
      client: at(site.client),
      model: at(site.archive),
      worker: app?.script,
      backend,
      timeout: settings.timeout,
      input:
        input === undefined
          ? undefined
          : { value, files: files.map(({ path }, index) => ({ path, url: at(site.inputs[index]!) })) },
    });
  };
  const results: BackendResult[] = [];
  try {
    for (const backend of backends) {
      const since = performance.now();
      const found = await run(backend).catch((error: Error): Found => {
        broken.add(browser);
        const message = `The page failed: ${withoutLog(messageOf(error))}`;
        return { ok: false, code: 'worker-lost', cause: undefined, message, probe: undefined };
      });
      // The server's address differs in every run, and a report is compared with earlier ones.
      const told = found.ok ? found : { ...found, message: found.message.replaceAll(at(site.archive), '') };
      const result = judge(backend, told, (performance.now() - since) / 1000);
      results.push(result);
      onResult?.(conclude([result], isNamed)[0]!, found.probe);
    }
    return conclude(results, isNamed || !results.some(({ verdict }) => verdict === 'right'));
  } finally {
    await end();
  }
}

/** The maximum number of characters of a line of a browser's log. */
const MAX_LINE = 200;

/** Returns an error of Playwright without the browser's log, except for its first error. */
export function withoutLog(message: string): string {
  const [first = '', ...log] = message.split('\n');
  const error = log.find((line) => /:(ERROR|FATAL):/.test(line))?.replace(/^.*?:(?=ERROR:|FATAL:)/, '');
  return [first, ...(error === undefined ? [] : [error])].map((line) => line.trim().slice(0, MAX_LINE)).join(' – ');
}

/** Opens an archive in a page of its own. @throws what Playwright throws; `timeout` if the page does not answer */
async function openInPage(context: BrowserContext, url: string, task: Task): Promise<Found> {
  let page: Page | undefined;
  const open = async (): Promise<Page> => {
    page = await context.newPage();
    await page.goto(url);
    return page;
  };
  try {
    const opened = await withinLimit('The browser', open, { milliseconds: OPEN_MS });
    const limit = { milliseconds: task.timeout * 1000 + GRACE_MS };
    return await withinLimit('The page', () => opened.evaluate(openOn, task), limit);
  } finally {
    await withinLimit('The page', () => page?.close(), { milliseconds: GRACE_MS }).catch(() => {});
  }
}

/**
 * Serves the site on the app's own origin too, because a browser starts no worker of another origin. The page has the
 * headers of the app's page, and nothing of its content.
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
