import type { Archive, ModelConfig } from '../../../contract/archive.js';
import type { HandlerDescriptor } from '../../../contract/handler.js';
import type { Processor } from '../../../contract/hugging-face-task.js';
import { asTabServeError, type TabServeError } from '../../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { architectureOf, type Json, labelsOf } from '../../../shared/hugging-face.js';
import { checkConfig, mergeConfig } from '../config.js';
import { readObject } from '../json.js';
import { beginFiles } from '../side-files.js';
import { LABELS } from '../manifest.js';
import { withCrossEncoder } from './cross-encoder.js';
import { prepared, TOKENIZER, type Prepared } from './inputs.js';
import { hasProcessor, PREPROCESSOR, readProcessor } from './processor-file.js';
import { knownArchitecture } from '../../tasks/architectures.js';
import { isCompared } from '../../tasks/compared.js';
import { TASKS } from '../../tasks/index.js';
import { timmConfigOf, timmHandlerOf } from './timm.js';
import { isRecord } from '../../../shared/schema.js';
import { besideOf, engineOf, modelsOf, namedNodes } from './models.js';
import { withExports } from './no-model.js';
import { withParts } from './parts.js';
import { uncomparedClass, UncomparedClass } from './uncompared.js';
import type { Source } from '../sources/source.js';

/** The largest size of a file that a handler asks for. */
const MAX_SIDE_BYTES = 16 * 1024 * 1024;

/** The second of these is only beside the first one. */
const [CHAT_TEMPLATE, TOOL_TEMPLATE] = ['chat_template.jinja', 'additional_chat_templates/tool_use.jinja'];

/** What repositories of sentence-transformers have. */
const SENTENCES = 'modules.json';
/**
 * How language models that were trained to make vectors are named, such as Qwen3-Embedding. Their config.json names the
 * class of a model that writes, and converted ones have no modules.json.
 */
const EMBEDDING = /-embed(ding)?(-|$)/i;
/** The same for those that rank texts, such as Qwen3-Reranker. */
const RERANKER = /-rerank(er)?(-|$)/i;

/** Returns the class of a handler's name. @throws `unknown-handler` */
export type FindHandler = (name: string) => Promise<HandlerDescriptor>;

/** What the caller has chosen. It wins over what follows from the repository. */
export interface Choice {
  /** The handler's name. */
  readonly handler?: string | undefined;
  readonly config: ModelConfig;
  /** Without it, nothing follows from `config.json` for a handler. */
  readonly handlerClass?: FindHandler | undefined;
}

/**
 * Reads Hugging Face's layout: `config.json`, and the files that its task needs: `preprocessor_config.json` for images,
 * `tokenizer.json` and `tokenizer_config.json` for texts. The model is in `onnx/` or beside them, in one or more
 * precisions.
 * @returns undefined if there is no `config.json`
 * @throws `model-config` naming the field from which a key cannot be derived, and the key; `model-format`,
 *   `model-not-found`, `network`, `aborted`
 */
export async function readHuggingFace(source: Source, choice: Choice): Promise<Archive | undefined> {
  const file = await source.read(HF_CONFIG, undefined, MAX_METADATA_BYTES);
  if (!file) return undefined;
  checkConfig(choice.config, () => {});
  const config = await withCrossEncoder(source, await readObject(file, HF_CONFIG));
  const own = (choice.config.handler ?? {}) as Json;
  const ownHandler =
    choice.handler === undefined ? await handlerOfRepository(source, config) : handlerByName(source, config);
  const architecture = architectureOf(config);
  const uncompared = uncomparedOf(architecture);
  const likelyHandler =
    choice.handler === undefined && uncompared !== undefined && !hasOwnCode(config)
      ? handlerOfTask(ownHandler)
      : undefined;
  const handler = choice.handler ?? (likelyHandler === undefined ? ownHandler : architecture);
  const task = handler === undefined ? undefined : TASKS[handler];
  const readsTexts = task?.readsTexts?.some((ending) => architecture?.endsWith(ending));
  const processor = readsTexts ? 'both' : task?.processor;
  // A handler of an app may read them, too.
  const mayHaveLabels = task?.architectures ? task.hasClasses === true : true;
  const hasLabels = mayHaveLabels && (isRecord(config['id2label']) || hasClasses(ownHandler));
  const files: Record<string, Blob> = {};
  if (hasLabels) addJson(labelsOf(config), LABELS, files);
  const given = { ...task, handler, ownHandler };
  const prepare = async (processors: readonly Processor[]): Promise<Prepared> =>
    await prepared(source, processors, given, config, own);
  const inputs = prepare(task?.nodeProcessors || !processor ? [] : processor === 'both' ? BOTH : [processor]);
  const nodeInputs = Promise.all(
    Object.entries(task?.nodeProcessors ?? {}).map(async ([node, one]) => [node, await prepare([one])] as const),
  );
  // Awaited below; the error of the outputs comes first.
  inputs.catch(() => {});
  nodeInputs.catch(() => {});
  const Class = task && (await choice.handlerClass?.(handler!));
  await Promise.all(
    (task?.files ?? []).map(async (path) => {
      if (path === HF_CONFIG) files[path] = file;
      else if (path === PREPROCESSOR) addJson(await readProcessor(source), path, files);
      else if (path !== TOOL_TEMPLATE || (await source.has(CHAT_TEMPLATE))) await addFile(source, path, files);
    }),
  );
  await Promise.all(
    (Class?.huggingFace?.filesOf?.(config, own) ?? []).map(async (path) => {
      const found = await source.read(path, undefined, MAX_SIDE_BYTES);
      if (!found) throw source.missing(path);
      // As in an archive, whose extra files lie at its root.
      files[path.slice(path.lastIndexOf('/') + 1)] = found;
    }),
  );
  const { handler: keys, files: more, isText } = await inputs;
  const derived = { ...Class?.huggingFace?.handlerConfig?.(config, own), ...keys };
  const all = { ...files, ...more };
  const beside = besideOf(source, task ?? {}, config);
  const merged = mergeConfig(
    {
      ...(Object.keys(derived).length > 0 && { handler: derived }),
      ...engineOf(config, namedNodes(task ?? {}, beside)),
    },
    choice.config,
  );
  /** Returns what is missing of the models of a task; undefined if all are there. */
  const missingOf = (name: string): TabServeError | undefined => {
    try {
      modelsOf(source, merged, TASKS[name], besideOf(source, TASKS[name]!, config));
      return undefined;
    } catch (error) {
      return asTabServeError(error);
    }
  };
  const models = await Promise.resolve()
    .then(() => modelsOf(source, merged, task, beside))
    .catch(async (error: unknown) => {
      // A missing handler is reported before a file that it would need.
      const unknown = handler !== undefined && !task ? choice.handlerClass?.(handler) : undefined;
      const first = await Promise.resolve(unknown).then(
        () => error,
        (reason: unknown) => {
          const likely = uncomparedClass({ architecture, likelyHandler });
          const missing = likely && missingOf(likely.likely);
          if (!missing) return likely ?? reason;
          // By its files, the model is one of another handler, or there is none.
          return source.paths?.some((path) => path.endsWith('.onnx')) ? reason : missing;
        },
      );
      if (first instanceof UncomparedClass) throw first;
      throw await withExports(await withParts(asTabServeError(first), source), source);
    });
  // The name of an uncompared class says less than files that its handler does not open.
  const isOfOtherFiles = uncompared !== undefined && handlerOfTask(ownHandler) && missingOf(ownHandler!);
  const archive: Archive = {
    url: source.url,
    manifest: {
      model: {
        modelName: modelNameOf(source.url),
        ...(handler !== undefined && { handler }),
        ...extensionsOf(all, isText),
      },
    },
    ...models,
    ...(models.nodes && { nodes: withInputs(models.nodes, await nodeInputs, { ...derived, ...own }) }),
    files: all,
    isRepository: true,
    ...(architecture !== undefined && { architecture }),
    golden: [],
    integrity: {},
    ...(!isOfOtherFiles && contradictionOf(choice.handler, ownHandler, config)),
    ...(likelyHandler !== undefined && { likelyHandler }),
    ...(task && uncompared !== undefined && { uncompared }),
  };
  beginFiles(source, archive);
  return archive;
}

const BOTH: readonly Processor[] = ['image', 'tokenizer'];

/** Adds a file, if there is one. */
async function addFile(source: Source, path: string, files: Record<string, Blob>): Promise<void> {
  const file = await source.read(path, undefined, MAX_METADATA_BYTES);
  if (file) files[path] = file;
}

/** Adds a file with what was read from a part of another file, if there is one. */
function addJson(json: Json | undefined, path: string, files: Record<string, Blob>): void {
  if (json) files[path] = new Blob([JSON.stringify(json)]);
}

/** Returns what the manifest says of the files that the handler reads. */
function extensionsOf(files: Readonly<Record<string, Blob>>, isText: boolean): { readonly extensions?: string } {
  const read = [...(isText ? [TOKENIZER] : []), ...Object.keys(files).filter((path) => path !== LABELS)];
  return read.length > 0 ? { extensions: read.join(',') } : {};
}

/** The keys of `handler:` that a node gets of its workflow's. */
const NODE_KEYS: Readonly<Record<Processor, readonly string[]>> = {
  image: ['imageProcessing'],
  tokenizer: ['maxLength', 'padTo'],
};

/** Returns the nodes' archives with their preprocessing. @param shared the workflow's keys */
function withInputs(
  nodes: Readonly<Record<string, Archive>>,
  inputs: readonly (readonly [string, Prepared])[],
  shared: Json,
): Readonly<Record<string, Archive>> {
  const own = inputs.map(([name, { handler, files, isText }]) => {
    const { manifest, config, ...node } = nodes[name]!;
    const wanted = NODE_KEYS[isText ? 'tokenizer' : 'image'].filter((key) => shared[key] !== undefined);
    const keys: Json = { ...handler, ...Object.fromEntries(wanted.map((key) => [key, shared[key]])) };
    const made: Archive = {
      ...node,
      manifest: { model: { ...manifest.model, ...extensionsOf(files, isText) } },
      config: { ...config, ...(Object.keys(keys).length > 0 && { handler: keys }) },
      files,
    };
    return [name, made] as const;
  });
  return { ...nodes, ...Object.fromEntries(own) };
}

/**
 * Returns the name of the handler for a model. If there is none, it is the architecture's own name: loading the handler
 * then reports it, unless the caller has chosen another.
 */
function handlerOf(config: Json): string | undefined {
  const architecture = architectureOf(config);
  if (architecture === undefined && timmConfigOf(config)) return timmHandlerOf(config);
  const type = config['model_type'];
  if (architecture === undefined && typeof type === 'string')
    return Object.entries(TASKS).find(([, { modelTypes }]) => modelTypes?.includes(type))?.[0];
  const known = knownArchitecture(architecture ?? '');
  if (known) return known.handler ?? architecture;
  const labels = isRecord(config['id2label']) ? Object.values(config['id2label']).map(String) : [];
  const encoder = isRecord(config['encoder']) ? String(config['encoder']['model_type']) : '';
  const found = Object.entries(TASKS).flatMap(([name, { architectures = [], label, keys, encoders }]) => {
    const ending = architectures
      .filter((one) => architecture?.endsWith(one))
      .toSorted((a, b) => b.length - a.length)[0];
    if (ending === undefined) return [];
    const isMet =
      (label === undefined || labels.some((one) => one.toLowerCase().startsWith(label))) &&
      (keys === undefined || keys.some((key) => Object.hasOwn(config, key))) &&
      (encoders === undefined || encoders.includes(encoder));
    // A label is more specific than a key: cross-encoders of entailment have both.
    const conditions = label !== undefined ? 2000 : (keys ?? encoders) !== undefined ? 1000 : 0;
    return isMet ? [{ name, rank: ending.length + conditions }] : [];
  });
  return found.toSorted((a, b) => b.rank - a.rank)[0]?.name ?? architecture;
}

/** Says that the caller has chosen the handler of another task than the model's. */
function contradictionOf(
  handler: string | undefined,
  ownHandler: string | undefined,
  config: Json,
): Pick<Archive, 'contradiction'> {
  const architecture = architectureOf(config) ?? '';
  const { architectures = [] } = (handler !== undefined && TASKS[handler]) || {};
  const isOfTask = ownHandler !== undefined && Object.hasOwn(TASKS, ownHandler);
  // Any model without its head returns features, whatever it was trained for.
  const takesAny = architectures.every((ending) => ending.endsWith('WithProjection'));
  const serves = !knownArchitecture(architecture) && architectures.some((ending) => architecture.endsWith(ending));
  if (handler === ownHandler || !isOfTask || takesAny || serves) return {};
  const advice = isCompared(architecture) ? 'Leave the option handler out, or set it' : 'Set the option handler';
  return {
    contradiction: `By its config.json, the model is for ${ownHandler}, not ${handler}: its outputs may mean something else. ${advice} to ${ownHandler}.`,
  };
}

/** Returns what says that no test compares the class with Python. A model of no class is not ours to judge. */
function uncomparedOf(architecture: string | undefined): string | undefined {
  if (architecture === undefined || isCompared(architecture)) return undefined;
  return `No test of TabServe compares the class ${architecture} with Python: compare some answers of your own. Those that are compared: docs/tasks.md.`;
}

/** Returns whether a repository names code of its own. Some name none there: `{}` or null. */
function hasOwnCode({ auto_map: classes }: Json): boolean {
  return isRecord(classes) && Object.keys(classes).length > 0;
}

/** Returns a handler's name if it is a built-in one, rather than the architecture's own name. */
function handlerOfTask(handler: string | undefined): string | undefined {
  return handler !== undefined && Object.hasOwn(TASKS, handler) ? handler : undefined;
}

/**
 * Returns the name of the handler for a repository. One of sentence-transformers may name any architecture, such as the
 * one that it was trained as, and so may a
 * language model whose name says that it makes vectors, or ranks texts. If a model has no head, its inputs say whether it is one of texts or of images.
 */
async function handlerOfRepository(source: Source, config: Json): Promise<string | undefined> {
  const architecture = architectureOf(config) ?? '';
  const found = handlerByName(source, config);
  if (mayBeOfSentences(found) && (await source.has(SENTENCES))) return 'text_feature_extractor';
  if (found !== architecture || !architecture.endsWith('Model') || knownArchitecture(architecture)) return found;
  // The model's own inputs and outputs say more of a class that is not known.
  if (!isCompared(architecture) && !hasOwnCode(config)) return found;
  const [isText, isImage] = await Promise.all([source.has(TOKENIZER), hasProcessor(source)]);
  if (isText === isImage) return found;
  return isText ? 'text_feature_extractor' : 'image_feature_extractor';
}

/** Returns the name of the handler by the class, and by the repository's name where it is of a language model. */
function handlerByName({ url }: Pick<Source, 'url'>, config: Json): string | undefined {
  const found = handlerOf(config);
  const name = found === 'text_generator' ? modelNameOf(url) : '';
  return RERANKER.test(name) ? 'text_reranker' : EMBEDDING.test(name) ? 'text_feature_extractor' : found;
}

/** Returns whether a repository with that handler may be one of sentence-transformers that makes vectors. */
function mayBeOfSentences(handler: string | undefined): boolean {
  const task = handler !== undefined && Object.hasOwn(TASKS, handler) ? TASKS[handler]! : undefined;
  // A cross-encoder compares two texts.
  return handler !== 'text_reranker' && (task === undefined || task.takes === 'text');
}

/**
 * Returns the name of a model by the URL of its folder, the repository's name or the folder's; or by the name of the
 * folder that the visitor picked.
 */
export function modelNameOf(url: string): string {
  const path = URL.canParse('.', url) ? decodeURIComponent(new URL(url).pathname) : url;
  const parts = path.split('/').filter(Boolean);
  const at = parts.indexOf('resolve');
  return (at > 0 ? parts[at - 1] : parts.at(-1)) ?? 'model';
}

/** Returns whether the handler of that name answers with classes. */
function hasClasses(handler: string | undefined): boolean {
  return handler !== undefined && Object.hasOwn(TASKS, handler) && TASKS[handler]!.hasClasses === true;
}
