/**
 * What an archive takes of any worker: the work that TabServe does for a first answer, written by hand for this one archive. Manifest and list of files, then config, labels, golden example and model; the model's
 * hash; engine and model kept with the Cache API; one run as a proof. Whatever can be done side by side is. It has no errors to explain, no progress, and no other engine, handler or backend.
 */
import * as ort from 'onnxruntime-web/wasm';
import { parse } from 'yaml';
import { SESSION_OPTIONS, THREADS } from '../model.ts';

/** What the worker is sent. It answers with `null` once the model has answered. */
export interface ByHandRequest {
  /** The archive's folder, with a slash at its end. */
  readonly archive: string;
}

interface Archive {
  readonly models: { readonly onnx: string };
  readonly golden: readonly string[];
  readonly files: Readonly<Record<string, { readonly sha256: string }>>;
}

const WASM = new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url);
const scope = globalThis as unknown as Worker;
/** What is being kept for the next visit. */
const keeping: Promise<void>[] = [];

scope.onmessage = ({ data }: MessageEvent<ByHandRequest>) => {
  void answer(data).then(() => scope.postMessage(null), reportError);
};

async function answer({ archive }: ByHandRequest): Promise<void> {
  const cache = await caches.open('by-hand');
  const engine = readEngine(cache);
  const [model, golden] = await readArchive(archive, cache);
  await useEngine(await engine);
  const session = await ort.InferenceSession.create(model, SESSION_OPTIONS);
  const [input] = session.inputMetadata;
  if (!input?.isTensor || golden.length === 0) throw new Error('The archive is another one.');
  const dims = input.shape.map((size) => (typeof size === 'number' ? size : 1));
  const run = async (): Promise<unknown> => {
    const zeros = new Float32Array(dims.reduce((product, size) => product * size, 1));
    return await session.run({ [input.name]: new ort.Tensor('float32', zeros, dims) });
  };
  await Promise.all([run(), ...keeping]);
  await run();
}

/** Reads the files of the archive, and returns the bytes of the model and of its golden example. */
async function readArchive(folder: string, cache: Cache): Promise<[model: Uint8Array, golden: Uint8Array]> {
  const ask = async (path: string): Promise<Response> => await fetch(folder + path);
  const manifest = ask('MAR-INF/MANIFEST.json').then((response) => response.json());
  const { models, golden, files } = (await (await ask('tabserve.json')).json()) as Archive;
  const [example, model] = await Promise.all([
    ask(golden[0]!).then((response) => response.arrayBuffer()),
    readModel(folder + models.onnx, files[models.onnx]!.sha256, cache),
    manifest.then(async ({ model }) => parse(await (await ask(model.configFile)).text()) as unknown),
    ask('index_to_name.json').then((response) => response.json()),
  ]);
  return [model, new Uint8Array(example)];
}

async function readModel(url: string, sha256: string, cache: Cache): Promise<Uint8Array> {
  const kept = await cache.match(url);
  if (kept) return new Uint8Array(await kept.arrayBuffer());
  const response = await fetch(url);
  keeping.push(cache.put(url, response.clone()));
  const bytes = new Uint8Array(await response.arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  if (Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('') !== sha256)
    throw new Error(`${url} is damaged.`);
  return bytes;
}

async function readEngine(cache: Cache): Promise<WebAssembly.Module> {
  const kept = await cache.match(WASM);
  if (kept) return await WebAssembly.compileStreaming(kept);
  const response = await fetch(WASM);
  keeping.push(cache.put(WASM, response.clone()));
  return await WebAssembly.compileStreaming(response);
}

/** ONNX Runtime asks for bytes, which it would compile: the module is put in their place. */
async function useEngine(module: WebAssembly.Module): Promise<void> {
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = (async (_: unknown, imports: WebAssembly.Imports) => ({
    module,
    instance: await instantiate(module, imports),
  })) as unknown as typeof WebAssembly.instantiate;
  ort.env.wasm.numThreads = THREADS;
  ort.env.wasm.wasmBinary = new ArrayBuffer(0);
}
