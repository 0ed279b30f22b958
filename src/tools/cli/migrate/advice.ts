/** What takes the place of names and options of transformers.js that `tabserve/pipeline` does not have. */

/** By the beginning of the name. */
const NAMES: readonly (readonly [start: string, advice: string])[] = [
  ['Auto', 'models, tokenizers and processors live in the worker: load() a handler, or write one (docs/handlers.md)'],
  ['env', 'there are no global settings: options of load() and of the pipeline take their place'],
  ['TextStreamer', 'use `for await (const part of client.stream(prompt))` with a client of load()'],
  ['WhisperTextStreamer', 'use client.stream() with a client of load()'],
  ['InterruptableStoppingCriteria', 'pass an AbortSignal as the option `signal` of a client’s request'],
  ['StoppingCriteria', 'functions cannot cross to the worker: use stop_strings or max_new_tokens'],
  ['RawImage', 'pass a URL, a Blob, a canvas or ImageData to the pipeline'],
  ['load_image', 'pass the URL to the pipeline'],
  ['read_audio', 'pass the URL or a Blob to the pipeline'],
  ['cos_sim', 'use cosineSimilarity of tabserve'],
  ['ModelRegistry', 'use cache and assess of tabserve'],
  ['Tensor', 'pipelines return a PipelineTensor, with dims, data and tolist()'],
];

/** Settings of `env`. */
const SETTINGS: Readonly<Record<string, string>> = {
  allowRemoteModels: 'nothing is requested but what the app names: remove it',
  allowLocalModels: 'a model’s URL says where it is: remove it',
  localModelPath: 'pass the model’s URL on your site to the pipeline',
  remoteHost: 'pass the model’s URL to the pipeline',
  backends: 'engine files come from the option assets, threads from config.engine.threads',
  useBrowserCache: 'the option cache, "none" for no cache',
  cacheDir: 'the option cache',
};

/** Options of `pipeline` that are other ones here. */
const OPTIONS: Readonly<Record<string, string>> = {
  quantized: 'dtype: "q8" for true, "fp32" for false',
  config: 'it has the keys of model-config.yaml here, not those of config.json',
  cache_dir: 'remove it; the option cache says where files are stored',
  local_files_only: 'remove it: nothing is requested but what the app names',
  model_file_name: 'pass the URL of the file',
  subfolder: 'pass the URL of the folder',
  session_options: 'config: { engine } has the engine’s options',
  use_external_data_format: 'remove it: external data is found in the model’s file',
  cache: 'its values are "cache-api", "opfs" and "none" here',
};

export function adviceForName(name: string): string {
  const [, advice] = NAMES.find(([start]) => name.startsWith(start)) ?? [];
  if (advice) return advice;
  return name.endsWith('Pipeline')
    ? 'use the type Pipeline of tabserve/pipeline with the task, such as Pipeline<"feature-extraction">'
    : 'tabserve/pipeline has no such export';
}

export function adviceForSetting(setting: string): string {
  return SETTINGS[setting] ?? 'there are no global settings';
}

export function adviceForOption(option: string): string | undefined {
  return Object.hasOwn(OPTIONS, option) ? OPTIONS[option] : undefined;
}
