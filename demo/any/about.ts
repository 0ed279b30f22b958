import type { ModelConfig } from '../../src/index.js';
import type { HandlerName } from '../../src/worker/handlers/registry.js';

/** What a page of models is about. */
export interface About {
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  /** The task; without it, it follows from what is opened. */
  readonly handler?: HandlerName;
  /** What repositories serve. */
  readonly hint: string;
  readonly suggestions: readonly Suggestions[];
  /** A model of the gallery, which is opened at once. */
  readonly own?: OwnModel;
}

/** Repositories for one task, which the visitor can look at with a click. */
export interface Suggestions {
  /** In the address: `for=depth` has them first. */
  readonly id: string;
  readonly title: string;
  /** What is downloaded of each, by its name: from 8 bits to full precision, counted from the weights of its card. */
  readonly sizes: Readonly<Record<string, string>>;
}

interface OwnModel {
  /** Name, license and what it is for, in a sentence. */
  readonly says: string;
  readonly url: string;
  readonly config: Partial<ModelConfig>;
  readonly bytes: number;
}
