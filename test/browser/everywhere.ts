/** The places where a handler runs. Each answers the same inputs, in the form that JSON has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.ts';
import type { ClientOptions } from '../../src/index.ts';
import { predictionServer } from './prediction-server.ts';
import { toJson } from '../../src/server/http/result-response.ts';

type BrowserBackend = keyof typeof chromiumArgs;

/** What a handler is asked: a file by its path on the tests' server, a text, or the model's own tensor. */
export type Asked =
  | { readonly file: string }
  | { readonly text: string }
  | { readonly tensor: readonly number[]; readonly dims: readonly number[]; readonly name: string };

export interface Case {
  /** The archive's path on the tests' server. */
  readonly model: string;
  readonly config?: ClientOptions['config'];
  readonly inputs: readonly Asked[];
  /** The archives that a server has for it; `model` if they are not given. Of a workflow, these are its nodes. */
  readonly served?: readonly string[];
}

/** The answers in order, or why this place does not run the model. */
export type Answers = { readonly answers: readonly unknown[] } | { readonly refused: string };

/** @param origin of the tests' server */
export type Place = (origin: string, asked: Case) => Promise<Answers>;

/** A page of the tests, in a browser of its own with a backend's flags. */
export function inTab(backend: BrowserBackend): Place {
  return (origin, asked) =>
    onPage(backend, `${origin}/test/browser/pages/tabserve.html`, (page) =>
      askClient(page, asked, { backends: [backend] }),
    );
}

export const inNode: Place = async (origin, { model, config, inputs }) => {
  const { load } = (await import('../../dist/node.js' as string)) as typeof import('../../src/node.ts');
  const options: object = { ...(config && { config }) };
  await using client = await load(`${origin}${model}`, options);
  const answers = [];
  for (const input of inputs) answers.push(plain(await client.predict((await read(origin, input)) as never)));
  return { answers };
};

/** A page whose client has its model on a server: `tabserve serve`. */
export const onServer: Place = async (origin, asked) => {
  const server = await startServer(origin, asked.served ?? [asked.model]);
  // A node of a workflow is asked for by its archive's name.
  const model = asked.served ? {} : { model: server.names[0]! };
  try {
    return await onPage('wasm', `${origin}/test/browser/pages/tabserve.html`, (page) =>
      askClient(page, asked, { backends: ['remote'], remote: { url: server.url, ...model } }),
    );
  } finally {
    await server.stop();
  }
};

/** A page that knows only `fetch`, whose requests a service worker has answered by the page itself. */
export const byFetch: Place = async (files, { model, config, inputs }) => {
  await using site = await predictionServer(files);
  return await onPage('wasm', `${site.origin}/test/browser/pages/predictions.html`, async (page) => {
    await page.evaluate(() => window.predictions.register(1));
    await page.evaluate(([model, options]) => window.predictions.host(['private'], false, model, options), [
      model,
      { config },
    ] as const);
    const answers = await page.evaluate(async (inputs) => {
      const ask = async (input: (typeof inputs)[number]): Promise<string> => {
        if ('tensor' in input) {
          const { name, dims, tensor } = input;
          const body = { inputs: [{ name, shape: dims, datatype: 'FP32', data: tensor }] };
          const answer = await send('/v2/models/private/infer', JSON.stringify(body), 'application/json');
          const { outputs } = JSON.parse(answer) as { outputs: { name: string; data: number[] }[] };
          return JSON.stringify(Object.fromEntries(outputs.map(({ name, data }) => [name, data])));
        }
        if ('text' in input) return await send('/predictions/private', input.text, 'text/plain');
        const file = await (await fetch(input.file)).blob();
        return await send('/predictions/private', file, file.type);
      };
      const send = async (path: string, body: string | Blob, type: string): Promise<string> => {
        const response = await fetch(path, { method: 'POST', body, headers: { 'Content-Type': type } });
        if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
        return await response.text();
      };
      const all: string[] = [];
      for (const input of inputs) all.push(await ask(input));
      return all;
    }, inputs);
    if (site.got.length > 0) throw new Error(`The server got ${site.got.join(', ')}.`);
    return { answers: answers.map((answer) => JSON.parse(answer) as unknown) };
  });
};

async function onPage<T>(backend: BrowserBackend, url: string, work: (page: Page) => Promise<T>): Promise<T> {
  const browser = await chromium.launch({
    args: [...chromiumArgs[backend]],
    ...(chromiumPath && { executablePath: chromiumPath }),
  });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction(() => 'tabserve' in window || 'predictions' in window);
    return await work(page);
  } finally {
    await browser.close();
  }
}

async function askClient(page: Page, { model, config, inputs }: Case, place: Partial<ClientOptions>): Promise<Answers> {
  const given = { ...place, model, ...(config && { config }) };
  const said = await page.evaluate(
    async ({ given, inputs }) => {
      const client = window.tabserve.connect(given as never);
      try {
        await client.initialize();
      } catch (error) {
        if ((error as { code?: string }).code !== 'no-backend') throw error;
        return { refused: (error as Error).message };
      }
      const answers: string[] = [];
      for (const input of inputs) {
        const row =
          'tensor' in input
            ? { data: new Float32Array(input.tensor), dims: input.dims }
            : 'text' in input
              ? input.text
              : await (await fetch(input.file)).blob();
        const result: unknown = await client.predict(row as never);
        answers.push(
          JSON.stringify(result, (_, value: unknown) =>
            ArrayBuffer.isView(value) ? Array.from(value as never, Number) : value,
          ),
        );
      }
      await client.dispose();
      return { answers };
    },
    { given, inputs },
  );
  return 'refused' in said ? said : { answers: said.answers.map((answer) => plain(JSON.parse(answer))) };
}

/** Returns an answer as HTTP has it: tensors are lists. */
function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(toJson(answer)));
}

async function read(origin: string, input: Asked): Promise<unknown> {
  if ('text' in input) return input.text;
  if ('tensor' in input) return { data: new Float32Array(input.tensor), dims: input.dims };
  return await (await fetch(`${origin}${input.file}`)).blob();
}

/** Starts `tabserve serve` of the built package with archives, on a free port. */
export async function startServer(
  origin: string,
  models: readonly string[],
): Promise<{ url: string; names: readonly string[]; stop(): Promise<unknown> }> {
  const main = fileURLToPath(new URL('../../dist/tools/cli/main.js', import.meta.url));
  const archives = models.map((model) => `${origin}${model}`);
  // The tensor of a photo may have more bytes than TorchServe's default.
  const flags = ['--port', '0', '--cors', origin, '--max-request-size', '50000000'];
  const child = spawn(process.execPath, [main, 'serve', ...archives, ...flags]);
  const exited = once(child, 'exit');
  const stop = async (): Promise<unknown> => {
    child.kill();
    return await exited;
  };
  const names: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const [, name] = /^(\S+) \S+: /.exec(line) ?? [];
    if (name !== undefined) names.push(name);
    const [, url] = /^Listening on (\S+)$/.exec(line) ?? [];
    if (url !== undefined) return { url, names, stop };
  }
  throw new Error('tabserve serve ended.');
}
