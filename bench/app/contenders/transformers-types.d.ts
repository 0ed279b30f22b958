/** What we use of transformers.js; it is installed for a benchmark alone, and types are checked without it. */
declare module '@huggingface/transformers' {
  interface Classify {
    (image: Blob, options: { top_k: number }): Promise<readonly { readonly label: string; readonly score: number }[]>;
  }
  interface PipelineOptions {
    readonly device: 'wasm' | 'webgpu';
    readonly dtype: 'fp32' | 'q8';
    readonly session_options: Readonly<Record<string, unknown>>;
  }
  export function pipeline(task: 'image-classification', model: string, options: PipelineOptions): Promise<Classify>;
  type UsualOptions = Omit<PipelineOptions, 'session_options'>;
  export function pipeline(
    task: 'automatic-speech-recognition',
    model: string,
    options: UsualOptions,
  ): Promise<(sound: Float32Array, options: { max_new_tokens?: number }) => Promise<{ readonly text: string }>>;
  export function pipeline(
    task: 'feature-extraction',
    model: string,
    options: UsualOptions,
  ): Promise<(text: string, options: { pooling: 'mean'; normalize: true }) => Promise<{ readonly data: Float32Array }>>;
  interface Encoding {
    readonly input_ids: { readonly data: ArrayLike<bigint> };
  }
  interface Tokenizer {
    (text: string): Encoding;
    decode(ids: readonly number[], options: { skip_special_tokens: boolean }): string;
  }
  export const AutoTokenizer: { from_pretrained(model: string): Promise<Tokenizer> };
  export const AutoModelForCausalLM: {
    from_pretrained(
      model: string,
      options: UsualOptions,
    ): Promise<{
      generate(
        options: Encoding & {
          max_new_tokens: number;
          do_sample: boolean;
          /** Gets the prompt's tokens at first, then each token. */
          streamer?: { put(tokens: unknown): void; end(): void };
        },
      ): Promise<unknown>;
    }>;
  };
  export const env: {
    readonly version: string;
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    localModelPath: string;
    useBrowserCache: boolean;
    readonly backends: {
      readonly onnx: {
        readonly versions?: { readonly web?: string };
        readonly wasm: { wasmPaths: string; numThreads: number; proxy: boolean };
      };
    };
  };
}
