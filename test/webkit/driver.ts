/** WebKitGTK, driven by WebDriver: enough of Playwright's `Page` for what runs in a page. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { webkit } from '../../scripts/webkit.ts';
import { startDisplay } from '../browser/firefox.ts';
import { pack, unpack } from './values.ts';

/** Milliseconds that a script in the page may take. */
const MAX_SCRIPT = 120_000;

/** A tab of WebKitGTK. */
export interface WebkitPage {
  goto(url: string): Promise<void>;
  /** Runs a function in the page, as Playwright does. It may return a promise. */
  evaluate<R, A = undefined>(work: (argument: A) => R, argument?: A): Promise<Awaited<R>>;
  waitForFunction(work: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface WebkitBrowser {
  readonly page: WebkitPage;
  end(): Promise<void>;
}

/** Starts a browser with a profile of its own. @param base the address that paths belong to */
export async function startWebkit(base: string): Promise<WebkitBrowser> {
  const display = await startDisplay();
  const port = await freePort();
  const driver = spawn(webkit!.driver, [`--port=${port}`], {
    stdio: 'ignore',
    env: { ...process.env, ...(display && { DISPLAY: display.name }) },
  });
  const at = `http://127.0.0.1:${port}`;
  await answers(at);
  const { sessionId } = (await send(`${at}/session`, 'POST', {
    capabilities: {
      alwaysMatch: { 'webkitgtk:browserOptions': { binary: webkit!.browser, args: ['--automation'] } },
    },
  })) as { readonly sessionId: string };
  const session = `${at}/session/${sessionId}`;
  await send(`${session}/timeouts`, 'POST', { script: MAX_SCRIPT, pageLoad: MAX_SCRIPT });
  const page = pageOf(session, base);
  return {
    page,
    async end() {
      await send(session, 'DELETE').catch(() => {});
      driver.kill();
      display?.end();
    },
  };
}

/** Runs in the page: `arguments` are a function's text, its packed argument, and what takes the packed result. */
const RUN = `
  const [source, argument, done] = arguments;
  const pack = ${pack.toString()};
  const unpack = ${unpack.toString()};
  (async () => {
    try {
      done({ value: pack(await (0, eval)('(' + source + ')')(unpack(argument))) });
    } catch (error) {
      done({ error: String(error?.message ?? error) });
    }
  })();
`;

function pageOf(session: string, base: string): WebkitPage {
  const page: WebkitPage = {
    async goto(url) {
      await send(`${session}/url`, 'POST', { url: new URL(url, base).href });
    },
    async evaluate(work, argument) {
      const found = (await send(`${session}/execute/async`, 'POST', {
        script: RUN,
        args: [work.toString(), pack(argument)],
      })) as { readonly value?: unknown; readonly error?: string };
      if (found.error !== undefined) throw new Error(found.error);
      return unpack(found.value) as never;
    },
    async waitForFunction(work) {
      for (const end = Date.now() + 30_000; !(await page.evaluate(work));)
        if (Date.now() > end) throw new Error(`It did not become true in 30 s: ${work}`);
    },
    async close() {
      await page.goto('about:blank');
    },
  };
  return page;
}

async function send(url: string, method: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { readonly value: unknown };
  if (response.ok) return value;
  const { error, message } = value as { readonly error: string; readonly message: string };
  throw new Error(`WebKitWebDriver: ${error}: ${message}`);
}

async function answers(at: string): Promise<void> {
  for (const end = Date.now() + 15_000; Date.now() < end;)
    if (
      await fetch(`${at}/status`).then(
        () => true,
        () => false,
      )
    )
      return;
  throw new Error('WebKitWebDriver did not start within 15 s.');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
