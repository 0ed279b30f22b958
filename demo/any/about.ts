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
  /** The names of some. */
  readonly examples: readonly string[];
  /** A model of the gallery, which is opened at once. */
  readonly own?: OwnModel;
  /** What an answer is, until there is one. */
  readonly example?: () => HTMLElement;
}

interface OwnModel {
  /** Name, license and what it is for, in a sentence. */
  readonly says: string;
  readonly url: string;
  readonly config: Partial<ModelConfig>;
  readonly bytes: number;
}
