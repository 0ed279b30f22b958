/**
 * The least that an archive asks of a worker: what TabServe does for a first answer, written by hand for this one archive. It reads the manifest and the list of files, then config, labels, golden example and
 * model; checks the model's hash; keeps engine and model with the Cache API; and runs the model twice, once where TabServe proves it. It does side by side whatever can be. It explains no errors, tells no
 * progress, and knows no other engine, handler or backend.
 */
import * as ort from 'onnxruntime-web/wasm';
import { load } from 'js-yaml';
import { runOnZeros, useModule } from '../loading/onnx-by-hand.ts';
import { SESSION_OPTIONS } from '../model.ts';

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
/** Pending while files are stored for the next visit. */
const keeping: Promise<void>[] = [];

scope.onmessage = ({ data }: MessageEvent<ByHandRequest>) => {
  void answer(data).then(() => scope.postMessage(null), reportError);
};

async function answer({ archive }: ByHandRequest): Promise<void> {
  const cache = await caches.open('by-hand');
  const engine = readEngine(cache);
  const model = await readArchive(archive, cache);
  useModule(await engine);
  const session = await ort.InferenceSession.create(model, SESSION_OPTIONS);
  await Promise.all([runOnZeros(session), ...keeping]);
  await runOnZeros(session);
}

/** Reads the files of the archive, and returns the model's bytes. */
async function readArchive(folder: string, cache: Cache): Promise<Uint8Array> {
  const ask = async (path: string): Promise<Response> => await fetch(folder + path);
  const manifest = ask('MAR-INF/MANIFEST.json').then((response) => response.json());
  const { models, golden, files } = (await (await ask('tabserve.json')).json()) as Archive;
  const [model] = await Promise.all([
    readModel(folder + models.onnx, files[models.onnx]!.sha256, cache),
    ask(golden[0]!).then((response) => response.arrayBuffer()),
    manifest.then(async ({ model }) => load(await (await ask(model.configFile)).text()) as unknown),
    ask('index_to_name.json').then((response) => response.json()),
  ]);
  return model;
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
