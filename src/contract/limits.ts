/**
 * The limits of what a config, or a model's declared inputs, may ask for. They are far above what models need, and
 * prevent one wrong number from costing minutes or gigabytes. Limits of texts are in `text/limits.ts`, of images in
 * `images/facts.ts`.
 */

/** The maximum number of bytes of a manifest, of `tabserve.json`, of a config, and of a repository's small JSON files. */
export const MAX_METADATA_BYTES = 2 ** 22;

/** The maximum number of bytes of `index_to_name.json`. */
export const MAX_LABELS_BYTES = 2 ** 24;

/** The maximum number of bytes of any other text: vocabularies, tokenizers, a TensorFlow.js `model.json`. */
export const MAX_TEXT_BYTES = 2 ** 28;

/**
 * The largest side of an image that a transform may be configured with, in pixels: a side of a resize, crop or
 * letterbox, or the width of a border.
 */
export const MAX_TRANSFORM_SIDE = 1_000_000;

/**
 * The largest side that an image may be resized to, in pixels, as a resize of the shorter side makes of a long, thin
 * image.
 */
export const MAX_RESIZED_SIDE = 2 ** 28;

/** The maximum number of pixels between two transforms: one and a half times the largest image that is decoded. */
export const MAX_WINDOW_PIXELS = 2 ** 28;

/**
 * The maximum memory of WebAssembly that one tile of a resize may take, in bytes. Only images with one side of millions of
 * pixels need so much.
 */
export const MAX_TILE_BYTES = 2 ** 28;

/**
 * The maximum number of elements of a tensor that is made from an image, or that a model declares as its input: half a gigabyte of
 * float32.
 */
export const MAX_TENSOR_ELEMENTS = 2 ** 27;

/**
 * The maximum number of pixels of an image, unless the config says otherwise: a camera of 100 megapixels has no more. A file of a few
 * kB can have as many, and to decode it takes about a gigabyte, of 8 to 10 bytes a pixel, and 2 s.
 */
export const MAX_IMAGE_PIXELS = 102_400_000;

/** The maximum number of anchors of a detector. */
export const MAX_ANCHORS = 1_000_000;

/** The maximum number of feature maps of a detector. */
export const MAX_LEVELS = 100;

/** The maximum number of nodes of a workflow, those of its nodes included. */
export const MAX_NODES = 32;

/** The maximum number of workflows that may lie in one another. */
export const MAX_WORKFLOW_DEPTH = 4;

/**
 * The maximum number of values of a config in YAML, and under one key of a section of a config, at any depth. Labels may also be in
 * a file.
 */
export const MAX_VALUES = 50_000;

/** The maximum number of files of an archive, its folders included: packed, picked, or named by an archive on a server. */
export const MAX_FILES = 10_000;

/** The maximum number of golden examples of a model: each is a run of the model whenever a backend is opened. */
export const MAX_EXAMPLES = 64;

/** The maximum number of labels. ImageNet-21k has 21,841 classes, the landmarks of Google 203,094. */
export const MAX_LABELS = 250_000;

/** The maximum number of variants of an input that one explanation runs the model on. */
export const MAX_VARIANTS = 100_000;

/** The maximum number of bytes that a worker caches between requests, unless the config sets `maxStateBytes`. */
export const MAX_STATE_BYTES = 256 * 1024 * 1024;

/** The maximum number of bytes of an answer of a server of models: half of the float32 of the largest tensor. */
export const MAX_ANSWER_BYTES = 2 ** 28;
