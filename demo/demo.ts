/**
 * What a demo is made of. A new one is an entry in `demos.ts`, and a file for whatever it takes or shows that no other demo does.
 */
import type { Backend, BackendName, ClientEvents, Progress } from '../src/index.js';

export interface Demo {
  /** Its part of the address: `#digits`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  readonly model: ModelFacts;
  /** File names in the model's `samples/`, with what each shows. */
  readonly samples: readonly Sample[];
  /** Says that dropping and pasting work as well. */
  readonly hint: string;
  /** What a developer writes. */
  readonly snippet: string;
  load(options: LoadOptions): Promise<Model>;
  /** Takes the input. `changed`: there is another one, or none any more. */
  input(changed: () => void): Input;
  /** Shows the result. */
  output(): Output;
}

export interface ModelFacts {
  /** The archive's folder, relative to the page. */
  readonly url: string;
  readonly name: string;
  readonly licence: string;
  /** Size of the weights. */
  readonly bytes: number;
}

export interface Sample {
  readonly file: string;
  readonly shows: string;
}

export interface LoadOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly backends?: readonly BackendName[];
}

/** What the page uses of a client, whatever its handler. */
export interface Model {
  readonly backend: Backend | undefined;
  predict(input: Picture): Promise<unknown>;
  on(event: 'response', listener: (event: ClientEvents['response']) => void): () => void;
  dispose(): Promise<void>;
}

export type Picture = Blob | HTMLCanvasElement;

export interface Input {
  readonly element: HTMLElement;
  /** Buttons of its own. */
  readonly actions: readonly HTMLElement[];
  /** What to predict; undefined: nothing yet. */
  current(): Picture | undefined;
  /** Makes `picture` the current input, and shows it. Says nothing: who calls it knows. */
  show(picture: Blob): void;
  dispose(): void;
}

export interface Output<Result = unknown> {
  readonly element: HTMLElement;
  /** @returns the result in a few words, to be read out */
  show(result: Result): string;
  clear(): void;
}
