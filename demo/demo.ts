/**
 * What a demo is made of. A new one is a file in `demos/`, and one for whatever it takes or shows that no other demo
 * does.
 */
import type { Backend, CandidateName, ClientEvents, ModelFormat, Params, Progress } from '../src/index.js';
import type { Settings } from './page/route.js';

export interface Demo {
  /** The hash of its address: `#/digits`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  /** Its input is as wide as the page allows, or a square. */
  readonly layout: 'wide' | 'square';
  /** The models that the visitor can choose from; the first is the default. */
  readonly models: readonly [ModelFacts, ...ModelFacts[]];
  /** It starts with the first one. */
  readonly samples: readonly [Sample, ...Sample[]];
  /** Whether it takes an image by drop, paste and file chooser. */
  readonly takesFiles: boolean;
  /** The line under the input. */
  readonly hint: string;
  /** Returns the code of a run, as a developer writes it. It works when it is pasted into a page. */
  snippet(run: Run): string;
  load(model: ModelFacts, options: LoadOptions): Promise<Model>;
  mount(events: InputEvents): Mounted;
}

export interface ModelFacts {
  /** The archive's folder, relative to the page. */
  readonly url: string;
  /** Its label on the switch between models. */
  readonly short: string;
  readonly name: string;
  readonly license: string;
  /** Size of the weights, in bytes. */
  readonly bytes: number;
  /** The engines whose format the archive holds, in the order in which they are tried. */
  readonly engines: readonly [ModelFormat, ...ModelFormat[]];
}

/** An image, a text if its name ends in `.txt`, or a recording if it ends in `.wav`. */
export interface Sample {
  readonly url: string;
  readonly shows: string;
}

/** What the page ran, or is about to run. */
export interface Run {
  /** The archive's URL. */
  readonly archive: string;
  /** The candidates that the visitor chose; undefined leaves the choice to the SDK. */
  readonly backends: readonly CandidateName[] | undefined;
  readonly source: Source;
  readonly params: Params;
  /** What the controls of the input and of the output are set to. */
  readonly settings: Settings;
  /** Undefined until there is one. */
  readonly result?: unknown;
}

/** Where the input came from. */
export type Source =
  | { readonly kind: 'sample'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file' | 'camera' | 'canvas' };

export interface LoadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly backends?: readonly CandidateName[];
}

/** The part of a client that the page uses. */
export interface Model {
  readonly backend: Backend | undefined;
  /** Predicts the demo's input. */
  predict(input: never, options: { readonly params: Params }): Promise<unknown>;
  /** Predicts the frames of a camera; missing if no camera is an input of the demo. */
  frames?(
    video: HTMLVideoElement,
    options: { readonly params: Params; readonly signal: AbortSignal },
  ): AsyncIterable<{ readonly result: unknown; readonly frame: VideoFrame | undefined }>;
  on<E extends 'response' | 'backendchange' | 'fail'>(event: E, listener: (event: ClientEvents[E]) => void): () => void;
  dispose(): Promise<void>;
}

/** What is predicted. */
export type Picture = string | Blob | HTMLCanvasElement | HTMLVideoElement;

/** A camera that runs. */
export interface Live {
  readonly video: HTMLVideoElement;
  /**
   * Is called with the frame of each answer, before the answer is shown. It is closed afterwards; undefined in a
   * browser without VideoFrame.
   */
  predicted(frame: VideoFrame | undefined): void;
}

interface Mounted {
  readonly input: Input;
  readonly output: Output;
}

export interface InputEvents {
  /** Is called when the input has changed. */
  changed(): void;
  /** Is called when the input was removed. */
  emptied(): void;
  /** Is called when the input could not be read. */
  refused(error: unknown): void;
}

/** Has controls, whose settings are in the page's address. */
interface Adjustable {
  /** The names and the current values. They are the defaults until `restore` is called. */
  readonly settings?: Settings;
  /**
   * Sets what `settings` names, and ignores what it does not know. An input that is another one then calls `changed`.
   */
  restore?(settings: Settings): void;
}

export interface Input extends Adjustable {
  readonly element: HTMLElement;
  /** Its buttons. */
  readonly actions: readonly HTMLElement[];
  /** Returns what to predict, or undefined while there is nothing. */
  current(): Picture | undefined;
  /** Returns the camera while it runs; then its frames are predicted, instead of `current`. */
  live?(): Live | undefined;
  /** Returns what was given to `show`, unless the visitor has put an input of their own instead. */
  given(): Blob | undefined;
  /** Makes `given` the current input, and shows it; resolves once a result can be drawn on it. It calls no listener. */
  show(given: Blob): Promise<void>;
  /** Stops a source that changes by itself: a camera. */
  pause?(): void;
  dispose(): void;
}

export interface Output<Result = unknown> extends Adjustable {
  readonly element: HTMLElement;
  /** Whether a result is plain data, which a visitor can copy. */
  readonly isPlain?: boolean;
  /** Parameters of the next request, set by the output's controls. */
  readonly params?: Params;
  /** Shows a result. @returns it in a few words, for a screen reader */
  show(result: Result): string;
  clear(): void;
  dispose?(): void;
}
