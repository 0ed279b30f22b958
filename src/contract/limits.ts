/**
 * The limits of what a config, or a model's declared inputs, may ask for. They are far above what models need, and keep one wrong number from costing minutes or
 * gigabytes. Limits of texts are in `text/limits.ts`, of images in `images/limits.ts`.
 */

/** The most bytes of a manifest, of `tabserve.json`, of a config, and of a repository's small JSON files. */
export const LARGEST_METADATA = 2 ** 22;

/** The most bytes of `index_to_name.json`. */
export const LARGEST_LABELS = 2 ** 24;

/** The most bytes of any other text: vocabularies, tokenizers, a TensorFlow.js `model.json`. */
export const LARGEST_TEXT = 2 ** 28;

/** The largest side of an image that a transform may be configured with, in pixels: a side of a resize, crop or letterbox, or the width of a border. */
export const LARGEST_SIDE = 1_000_000;

/** The largest side that an image may be resized to, in pixels, as a resize of the shorter side makes of a long, thin image. */
export const LARGEST_RESIZE = 2 ** 28;

/** The most pixels between two transforms: one and a half times the largest image that is decoded. */
export const LARGEST_WINDOW = 2 ** 28;

/** The most memory of WebAssembly that one tile of a resize may take, in bytes. Only images with one side of millions of pixels need so much. */
export const LARGEST_TILE = 2 ** 28;

/** The most elements of a tensor that is made from an image, or that a model declares as its input: half a gigabyte of float32. */
export const LARGEST_TENSOR = 2 ** 27;

/** The most anchors of a detector. */
export const MOST_ANCHORS = 1_000_000;

/** The most feature maps of a detector. */
export const MOST_LEVELS = 100;

/** The most nodes of a workflow, those of its nodes included. */
export const MOST_NODES = 32;

/** The most workflows that may lie in one another. */
export const MOST_DEPTH = 4;

/** The most threads of an engine. */
export const MOST_THREADS = 64;

/** The most values of a config in YAML, and under one key of a section of a config, at any depth. Labels may also be in a file. */
export const MOST_VALUES = 50_000;

/** The most files of an archive, its folders included: packed, picked, or named by an archive on a server. */
export const MOST_FILES = 10_000;

/** The most golden examples of a model: each is a run of the model whenever a backend is opened. */
export const MOST_EXAMPLES = 64;

/** The most labels. ImageNet-21k has 21,841 classes, the landmarks of Google 203,094. */
export const MOST_LABELS = 250_000;

/** The most variants of an input that one explanation runs the model on. */
export const MOST_VARIANTS = 100_000;

/** The most bytes of an answer of a server of models: half of the float32 of the largest tensor. */
export const LARGEST_ANSWER = 2 ** 28;
