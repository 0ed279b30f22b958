import type { Params } from './handler.js';

/** What prepares inputs: the steps of images, or a tokenizer. */
export type Processor = 'image' | 'tokenizer';

/** Which models of Hugging Face's layout a handler class serves, and what they need. */
export interface HuggingFaceTask {
  /**
   * The architectures that it serves, by the ends of their names, such as `ForImageClassification`. Of several handlers,
   * the one with the longest end serves an architecture.
   */
  readonly architectures?: readonly string[];
  /** The same for repositories that name no architecture: by `model_type` of `config.json`. */
  readonly modelTypes?: readonly string[];
  /**
   * It serves only models with a label that begins like this, in upper or lower case, and is preferred to handlers
   * without a condition.
   */
  readonly label?: string;
  /**
   * It serves only models whose `config.json` has one of these keys, and is preferred to handlers without a condition.
   */
  readonly keys?: readonly string[];
  /**
   * It serves only models whose `encoder` in `config.json` has one of these as `model_type`, and is preferred to handlers
   * without a condition.
   */
  readonly encoders?: readonly string[];
  /**
   * What prepares the inputs: `preprocessor_config.json`, `tokenizer.json`, or both. Without it, the handler reads its
   * `files` itself.
   */
  readonly processor?: Processor | 'both';
  /** The architectures, by the ends of their names, that need a tokenizer and a processor of images. */
  readonly readsTexts?: readonly string[];
  /** Whether it answers with classes, whose labels are in `config.json`. */
  readonly hasClasses?: boolean;
  /** The names that exporters give the model's file, without precision and extension. Default: `model`. */
  readonly models?: readonly string[];
  /**
   * The files beside `models` that some models are divided into, by the names of their nodes: those of several senses,
   * whose `config.json` has a part for texts or images (`text_config`, `vision_config`), and those of the architectures
   * of `divided`.
   */
  readonly beside?: Readonly<Record<string, readonly string[]>>;
  /** The nodes of `beside` that only models of some types have: the values of `model_type`, by the node's name. */
  readonly besideTypes?: Readonly<Record<string, readonly string[]>>;
  /** The nodes of `beside` that a model has if `config.json` has a part for them: its key, by the node's name. */
  readonly besideKeys?: Readonly<Record<string, string>>;
  /** The name by which `engine.dtype` chooses a precision of the model that others are beside. Default: `decoder`. */
  readonly main?: string;
  /**
   * The architectures, by the ends of their names, and the model types, whose models are divided into the files of
   * `beside`.
   */
  readonly divided?: readonly string[];
  /** What the names of files end with that lie beside a model's file under its name, as `.json` of Piper's `NAME.onnx.json`. */
  readonly besideModel?: readonly string[];
  /** The same for a handler that opens several models: by the names of its nodes. */
  readonly nodes?: Readonly<Record<string, readonly string[]>>;
  /**
   * What prepares the inputs of each node, for a handler that opens the handlers of its nodes: each node then has the
   * keys of `handler:` and the files that follow from it.
   */
  readonly nodeProcessors?: Readonly<Record<string, Processor>>;
  /** Whether it generates text. Then the limit of `tokenizer_config.json` does not limit a row. */
  readonly generates?: boolean;
  /** Whether it reads `modules.json` and its like, as sentence-transformers does. */
  readonly sentenceTransformers?: boolean;
  /** Files that the handler reads if the repository has them. */
  readonly files?: readonly string[];
  /**
   * Returns the files that must be there, by their paths in the repository. The handler reads them by their names alone.
   * @param own the caller's own keys of `handler:`
   */
  readonly filesOf?: (config: Params, own: Params) => readonly string[];
  /**
   * Returns the keys of `handler:` that follow from `config.json`.
   * @param own the caller's own keys, which win
   * @throws `model-config` naming the field from which a key cannot be derived, and the key
   */
  readonly handlerConfig?: (config: Params, own: Params) => Params;
}
