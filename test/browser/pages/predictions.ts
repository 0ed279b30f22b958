import type OpenAI from 'openai';
import { load } from '../../../src/index.ts';
import { hostModels, whenControlled, type ModelHost } from '../../../src/service-worker.ts';
import { ModelServer } from '../../../src/serving.ts';

/** What a client that knows only `fetch` sees of an answer. */
export interface Seen {
  readonly said: string;
  readonly body: unknown;
}

const MODEL = '/test/models/text/embedding-bag/';

const page = {
  /** Registers the service worker, as version `version` of the app. */
  async register(version: number): Promise<void> {
    const url = `/test/browser/workers/predictions.sw.ts?version=${version}`;
    await navigator.serviceWorker.register(url, { type: 'module', scope: '/' });
    await whenControlled();
  },
  whenControlled,
  isControlled: () => navigator.serviceWorker.controller !== null,
  /** Hosts models of these names. With `gate`, predictions on this page never end; `gated` counts them. */
  async host(names: readonly string[], gate = false, model = MODEL, options: object = {}): Promise<void> {
    const server = new ModelServer();
    const client = await load(model, { backends: ['wasm'], ...options });
    for (const name of names) await server.register(client, { name });
    page.hosting = hostModels({
      fetch: (request) => {
        if (!gate || !request.url.includes('/predictions/')) return server.fetch(request);
        page.gated += 1;
        return new Promise(() => {});
      },
    });
    await page.hosting.ready;
  },
  /** Hosts the archives of a folder, by their names. */
  async hostFolder(folder: string, names: readonly string[]): Promise<void> {
    const server = new ModelServer({ load });
    await Promise.all(names.map((name) => server.register(`${folder}${name}/`, { name, backends: ['wasm'] })));
    page.hosting = hostModels(server);
    await page.hosting.ready;
  },
  /** Hosts a model that is ready, and fails. */
  async hostFailing(name: string, model: string): Promise<void> {
    const server = new ModelServer();
    await server.register(await load(model, { backends: ['wasm'] }), { name });
    page.hosting = hostModels({
      fetch: async (request) =>
        request.method === 'POST' ? new Response('lost', { status: 500 }) : await server.fetch(request),
    });
    await page.hosting.ready;
  },
  hosting: undefined as ModelHost | undefined,
  gated: 0,
  async ask(path: string, body?: string | FormData | Blob): Promise<Seen> {
    const response = await fetch(path, body === undefined ? {} : { method: 'POST', body });
    const text = await response.text();
    const { headers } = response;
    const isJson = headers.get('Content-Type')?.includes('json') === true;
    return {
      said: `${response.status} by ${headers.get('TabServe-Answered-By')}, because: ${headers.get('TabServe-Reason')}`,
      body: isJson ? JSON.parse(text) : text,
    };
  },
  /** OpenAI's own client, which knows only `fetch`. */
  async openai(): Promise<OpenAI> {
    const { default: Client } = await import('openai');
    const baseURL = new URL('/v1', location.href).href;
    return new Client({ baseURL, apiKey: 'none', dangerouslyAllowBrowser: true, maxRetries: 0 });
  },
  /** LangChain's classes, which know only an address. */
  async langchain() {
    const { ChatOpenAI } = await import('@langchain/openai');
    const configuration = { baseURL: new URL('/v1', location.href).href, dangerouslyAllowBrowser: true };
    return (fields: object) => new ChatOpenAI({ apiKey: 'none', maxRetries: 0, configuration, ...fields });
  },
  form(text: string): FormData {
    const form = new FormData();
    form.append('data', new Blob([text], { type: 'text/plain' }), 'news.txt');
    return form;
  },
};

declare global {
  interface Window {
    predictions: typeof page;
  }
}

window.predictions = page;
