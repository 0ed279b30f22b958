import type { Archive, ModelConfig } from '../../../contract/archive.js';
import type { HandlerDescriptor } from '../../../contract/handler.js';
import type { HuggingFaceTask, Processor } from '../../../contract/hugging-face-task.js';
import { asTabServeError, type TabServeError } from '../../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { architectureOf, type Json, labelsOf } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { TASKS } from '../../tasks/index.js';
import { checkConfig, mergeConfig } from '../config.js';
import { readObject } from '../json.js';
import { LABELS } from '../manifest.js';
import { beginFiles } from '../side-files.js';
import type { Source } from '../sources/source.js';
import { withCrossEncoder } from './cross-encoder.js';
import { contradictionOf, handlerOfTask, handlersOf, type Handlers } from './handlers.js';
import { prepared, TOKENIZER, type Prepared } from './inputs.js';
import { besideOf, engineOf, modelsOf, namedNodes } from './models.js';
import { withExports, withoutModel } from './no-model.js';
import { withParts } from './parts.js';
import { PREPROCESSOR, readProcessor } from './processor-file.js';
import { modelNameOf } from './repository-name.js';
import { uncomparedClass, UncomparedClass } from './uncompared.js';

/** The largest size of a file that a handler asks for. */
const MAX_SIDE_BYTES = 16 * 1024 * 1024;

/** The second of these is only beside the first one. */
const [CHAT_TEMPLATE, TOOL_TEMPLATE] = ['chat_template.jinja', 'additional_chat_templates/tool_use.jinja'];

const BOTH: readonly Processor[] = ['image', 'tokenizer'];

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
  const name = URL.canParse(HF_CONFIG, source.url) ? new URL(HF_CONFIG, source.url).href : HF_CONFIG;
  const config = await withCrossEncoder(source, await readObject(file, name));
  const own = (choice.config.handler ?? {}) as Json;
  const handlers = await handlersOf(source, config, choice.handler);
  const { handler, ownHandler, likelyHandler, uncompared } = handlers;
  const architecture = architectureOf(config);
  const task = handler === undefined ? undefined : TASKS[handler];
  const readsTexts = task?.readsTexts?.some((ending) => architecture?.endsWith(ending));
  const processor = readsTexts ? 'both' : task?.processor;
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
  const side = await readSideFiles(source, { task, Class, file, config, own });
  const {
    handler: keys,
    files: more,
    isText,
  } = await inputs.catch(async (error: unknown) => {
    throw await withoutModel(asTabServeError(error), source);
  });
  const derived = { ...Class?.huggingFace?.handlerConfig?.(config, own), ...keys };
  // A handler of an app may read them, too.
  const mayHaveLabels = task?.architectures ? task.hasClasses === true : true;
  const isOfClasses = TASKS[handlerOfTask(ownHandler) ?? '']?.hasClasses === true;
  const hasLabels = mayHaveLabels && (isRecord(config['id2label']) || isOfClasses);
  const files = { ...(hasLabels && jsonFile(labelsOf(config), LABELS)), ...side, ...more };
  const nodes = namedNodes(task ?? {}, besideOf(source, task ?? {}, config));
  const merged = mergeConfig(
    { ...(Object.keys(derived).length > 0 && { handler: derived }), ...engineOf(config, nodes) },
    choice.config,
  );
  const models = await findModels(source, { merged, config, handlers, find: choice.handlerClass });
  // The name of an uncompared class says less than files that its handler does not open.
  const isOfOtherFiles =
    uncompared !== undefined && handlerOfTask(ownHandler) && missingOf(source, ownHandler!, merged, config);
  const archive: Archive = {
    url: source.url,
    manifest: {
      model: {
        modelName: modelNameOf(source.url),
        ...(handler !== undefined && { handler }),
        ...extensionsOf(files, isText),
      },
    },
    ...models,
    ...(models.nodes && { nodes: withInputs(models.nodes, await nodeInputs, { ...derived, ...own }) }),
    files,
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

/** What says which files a handler reads. */
interface SideFiles {
  readonly task: HuggingFaceTask | undefined;
  readonly Class: HandlerDescriptor | undefined;
  /** `config.json`, and what it says. */
  readonly file: Blob;
  readonly config: Json;
  /** The caller's keys of the handler. */
  readonly own: Json;
}

/** Reads the files beside the model that a handler reads. @throws `model-not-found` for one that the class needs */
async function readSideFiles(
  source: Source,
  { task, Class, file, config, own }: SideFiles,
): Promise<Readonly<Record<string, Blob>>> {
  const ofTask = await Promise.all(
    (task?.files ?? []).map(async (path) => {
      if (path === HF_CONFIG) return { [path]: file };
      if (path === PREPROCESSOR) return jsonFile(await readProcessor(source), path);
      if (path === TOOL_TEMPLATE && !(await source.has(CHAT_TEMPLATE))) return {};
      const found = await source.read(path, undefined, MAX_METADATA_BYTES);
      return found && { [atRoot(path)]: found };
    }),
  );
  // The error of a file of the task comes first.
  const ofClass = await Promise.all(
    (Class?.huggingFace?.filesOf?.(config, own) ?? []).map(async (path) => {
      const found = await source.read(path, undefined, MAX_SIDE_BYTES);
      if (!found) throw source.missing(path);
      return { [atRoot(path)]: found };
    }),
  );
  return Object.assign({}, ...ofTask, ...ofClass);
}

/** Returns the path of a file as in an archive, whose extra files lie at its root. */
function atRoot(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns a file with what was read from a part of another one; none if there is no such part. */
function jsonFile(json: Json | undefined, path: string): Readonly<Record<string, Blob>> {
  return json ? { [path]: new Blob([JSON.stringify(json)]) } : {};
}

/** Returns where the models of a handler are. @throws see `modelsOf`; `unknown-handler`, which says more than a missing file */
async function findModels(
  source: Source,
  wanted: {
    readonly merged: ModelConfig;
    readonly config: Json;
    readonly handlers: Handlers;
    readonly find: FindHandler | undefined;
  },
): Promise<ReturnType<typeof modelsOf>> {
  const { merged, config, handlers, find } = wanted;
  const { handler, likelyHandler } = handlers;
  const task = handler === undefined ? undefined : TASKS[handler];
  try {
    return modelsOf(source, merged, task, besideOf(source, task ?? {}, config));
  } catch (error) {
    let first = error;
    if (handler !== undefined && !task)
      await find?.(handler).catch((reason: unknown) => {
        const missing = likelyHandler === undefined ? undefined : missingOf(source, likelyHandler, merged, config);
        const likely = uncomparedClass({ architecture: architectureOf(config), likelyHandler });
        // By its files, the model is one of another handler, or there is none.
        const isOther = source.paths?.some((path) => path.endsWith('.onnx'));
        first = missing ? (isOther ? reason : missing) : (likely ?? reason);
      });
    if (first instanceof UncomparedClass) throw first;
    throw await withExports(await withParts(asTabServeError(first), source), source);
  }
}

/** Returns the error for the models of a handler that are not there; undefined if all are. */
function missingOf(source: Source, handler: string, merged: ModelConfig, config: Json): TabServeError | undefined {
  const task = TASKS[handler]!;
  try {
    modelsOf(source, merged, task, besideOf(source, task, config));
    return undefined;
  } catch (error) {
    return asTabServeError(error);
  }
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
