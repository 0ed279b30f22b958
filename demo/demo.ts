/**
 * What a demo is made of. A new one is a file in `demos/`, and one for whatever it takes or shows that no other demo does.
 */
import type { Backend, CandidateName, ClientEvents, EngineName, Params, Progress } from '../src/index.js';

export interface Demo {
  /** Its part of the address: `#/digits`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  /** Its input is as wide as the page allows, or a square. */
  readonly layout: 'wide' | 'square';
  /** What does the same, the first unless another is chosen. */
  readonly models: readonly [ModelFacts, ...ModelFacts[]];
  readonly samples: readonly [Sample, ...Sample[]];
  /** It starts with the first sample; one that invites to draw does not. */
  readonly startsWithSample: boolean;
  /** Takes an image by drop, paste and file chooser. */
  readonly takesFiles: boolean;
  /** What else can be done. */
  readonly hint: string;
  /** What a developer writes. `options`: what `load` is told beside the handler, e.g. `, backends: ['tfjs/wasm']`. */
  snippet(model: ModelFacts, options: string): string;
  load(model: ModelFacts, options: LoadOptions): Promise<Model>;
  mount(events: InputEvents): Mounted;
}

export interface ModelFacts {
  /** The archive's folder, relative to the page. */
  readonly url: string;
  /** On the switch between models. */
  readonly short: string;
  readonly name: string;
  readonly license: string;
  /** Size of the weights. */
  readonly bytes: number;
  /** Engines that the archive holds the model for, the one that is tried first in front. */
  readonly engines: readonly [EngineName, ...EngineName[]];
}

/** An image, or a text by its ending `.txt`. */
export interface Sample {
  readonly url: string;
  readonly shows: string;
}

export interface LoadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly backends?: readonly CandidateName[];
}

/** What the page uses of a client, whatever its handler. */
export interface Model {
  readonly backend: Backend | undefined;
  /** Takes what the demo's input gives. */
  predict(input: never, options: { readonly params: Params }): Promise<unknown>;
  on<E extends 'response' | 'backendchange' | 'fail'>(event: E, listener: (event: ClientEvents[E]) => void): () => void;
  dispose(): Promise<void>;
}

/** What is predicted. */
export type Picture = string | Blob | HTMLCanvasElement | HTMLVideoElement | VideoFrame;

export interface Mounted {
  readonly input: Input;
  readonly output: Output;
}

export interface InputEvents {
  /** There is another input. */
  changed(): void;
  /** There is none any more. */
  emptied(): void;
  /** It could not be had. */
  refused(error: unknown): void;
}

export interface Input {
  readonly element: HTMLElement;
  /** Buttons of its own. */
  readonly actions: readonly HTMLElement[];
  /** What to predict; undefined: nothing yet. A camera gives the frame of this moment, which is good until the next call. */
  current(): Picture | undefined;
  /** Makes `given` the current input, and shows it; resolves once a result can be drawn on it. Says nothing: who calls it knows. */
  show(given: Blob): Promise<void>;
  /** Gives nothing more by itself: a camera stops. */
  rest?(): void;
  dispose(): void;
}

export interface Output<Result = unknown> {
  readonly element: HTMLElement;
  /** Knobs of the next request, set by controls of its own. */
  readonly params?: Params;
  /** @returns the result in a few words, to be read out */
  show(result: Result): string;
  clear(): void;
  dispose?(): void;
}
