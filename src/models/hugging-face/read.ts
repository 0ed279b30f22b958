import type { Archive, ModelConfig } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { LARGEST_METADATA } from '../../contract/limits.js';
import { checkConfig, mergeConfig } from '../config.js';
import { beginFiles } from '../side-files.js';
import type { Source } from '../sources/source.js';
import { LABELS } from '../manifest.js';
import { architectureOf, handlerConfig, handlerOf } from './architectures.js';
import { imageProcessingOf, PREPROCESSOR } from './image-processing.js';
import { readObject, type Json } from './json.js';
import { modelFiles, ownPrecision } from './precision.js';
import { HF_CONFIG, modelNameOf } from './repository.js';
import { maxLengthOf } from './text.js';

const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';

/** What the caller has chosen. It wins over what follows from the repository. */
export interface Choice {
  /** The handler's name. */
  readonly handler?: string | undefined;
  readonly config: ModelConfig;
}

/**
 * Reads Hugging Face's layout: `config.json`, and the files that its task needs: `preprocessor_config.json` for images, `tokenizer.json` and
 * `tokenizer_config.json` for texts. The model is in `onnx/` or beside them, in one or more precisions.
 * @returns undefined if there is no `config.json`
 * @throws `model-config` naming the field from which a key cannot be derived, and the key; `model-format`, `model-not-found`, `network`, `aborted`
 */
export async function readHuggingFace(source: Source, choice: Choice): Promise<Archive | undefined> {
  const file = await source.read(HF_CONFIG, undefined, LARGEST_METADATA);
  if (!file) return undefined;
  checkConfig(choice.config, () => {});
  const config = await readObject(file, HF_CONFIG);
  const own = (choice.config.handler ?? {}) as Json;
  const architecture = architectureOf(config);
  const handler = choice.handler ?? handlerOf(architecture);
  const files: Record<string, Blob> = labelsOf(config);
  const derived = {
    ...handlerConfig(handler, config, own),
    ...(await inputConfig(source, handler, config, own, files)),
  };
  const extensions = isText(handler) && own['tokenizer'] !== 'torchserve' ? { extensions: TOKENIZER } : {};
  const merged = mergeConfig(
    { ...(Object.keys(derived).length > 0 && { handler: derived }), ...engineOf(config) },
    choice.config,
  );
  const alternatives = modelFiles(source, merged);
  const archive: Archive = {
    url: source.url,
    manifest: {
      model: {
        modelName: modelNameOf(source.url),
        ...(handler !== undefined && { handler }),
        ...extensions,
      },
    },
    config: merged,
    models: { onnx: alternatives[0]!.path },
    alternatives,
    files,
    golden: [],
    integrity: {},
  };
  beginFiles(source, archive);
  return archive;
}

/** Returns the keys of `handler:` that say how inputs are made, and adds the files that were read for it. */
async function inputConfig(
  source: Source,
  handler: string | undefined,
  config: Json,
  own: Json,
  files: Record<string, Blob>,
): Promise<Json> {
  if (isText(handler) && own['tokenizer'] !== 'torchserve') {
    if (!(await source.has(TOKENIZER)))
      throw new TabServeError(
        'model-not-found',
        `There is no ${TOKENIZER}. In Python, AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER) writes it, if the tokenizer is a fast one.`,
      );
    const settings = await source.read(TOKENIZER_CONFIG, undefined, LARGEST_METADATA);
    if (settings) files[TOKENIZER_CONFIG] = settings;
    const limits = settings ? await readObject(settings, TOKENIZER_CONFIG) : {};
    return own['maxLength'] === undefined ? maxLengthOf(config, limits) : {};
  }
  if (!isImage(handler) || own['imageProcessing'] !== undefined) return {};
  const processor = await source.read(PREPROCESSOR, undefined, LARGEST_METADATA);
  if (processor) return { imageProcessing: imageProcessingOf(await readObject(processor, PREPROCESSOR), config) };
  throw new TabServeError(
    'model-config',
    `There is no ${PREPROCESSOR}, which says how images become the model's input. Set handler.imageProcessing to the steps of this model (docs/model-config.md).`,
  );
}

function isText(handler: string | undefined): boolean {
  return handler?.startsWith('text_') ?? false;
}

function isImage(handler: string | undefined): boolean {
  return [
    'image_classifier',
    'object_detector',
    'image_segmenter',
    'image_feature_extractor',
    'image_to_image',
    'vision_handler',
  ].includes(handler ?? '');
}

/** Returns `id2label` as TorchServe's file of labels. */
function labelsOf({ id2label }: Json): Record<string, Blob> {
  return typeof id2label === 'object' && id2label !== null ? { [LABELS]: new Blob([JSON.stringify(id2label)]) } : {};
}

/** Returns the engine's keys that a repository sets for transformers.js. */
function engineOf(config: Json): ModelConfig {
  const own = config['transformers.js_config'] as { free_dimension_overrides?: Record<string, number> } | undefined;
  const freeDimensions = own?.free_dimension_overrides;
  const dtype = ownPrecision(config);
  return freeDimensions || dtype
    ? { engine: { ...(freeDimensions && { freeDimensions }), ...(dtype && { dtype }) } }
    : {};
}
