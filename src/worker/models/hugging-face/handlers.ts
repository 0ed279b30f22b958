/** Which handler a repository is for. */
import type { Archive } from '../../../contract/archive.js';
import { architectureOf, labelCountOf, type Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { knownArchitecture } from '../../tasks/architectures.js';
import { isCompared } from '../../tasks/compared.js';
import { TASKS } from '../../tasks/index.js';
import type { Source } from '../sources/source.js';
import { TOKENIZER } from './inputs.js';
import { hasProcessor } from './processor-file.js';
import { modelNameOf } from './repository-name.js';
import { timmConfigOf, timmHandlerOf } from './timm.js';

/** What repositories of sentence-transformers have. */
const SENTENCES = 'modules.json';
/**
 * How models are named that were trained to make vectors, such as Qwen3-Embedding and jina-embeddings-v2. Their
 * config.json may name the class of a model that writes, or fills masks, and converted ones have no modules.json.
 */
const EMBEDDING = /-embed(dings?)?(-|$)/i;
/** The same for those that rank texts, such as Qwen3-Reranker. jina-reranker-v1 names the class without its head. */
const RERANKER = /-rerank(er)?(-|$)/i;

/** What a repository and the caller say of its handler. */
export interface Handlers {
  /** The name of the one that opens it: the caller's, the repository's own, or that of a class without a handler. */
  readonly handler: string | undefined;
  /** By the repository alone. */
  readonly ownHandler: string | undefined;
  /** The one that the name of an uncompared class speaks for, and that nobody has chosen. */
  readonly likelyHandler: string | undefined;
  /** Says that no test compares its class; undefined if one does, or if it has none. */
  readonly uncompared: string | undefined;
}

/** @param chosen the name of the handler that the caller has chosen */
export async function handlersOf(source: Source, config: Json, chosen: string | undefined): Promise<Handlers> {
  const architecture = architectureOf(config);
  const ownHandler = chosen === undefined ? await handlerOfRepository(source, config) : handlerByName(source, config);
  const uncompared = uncomparedOf(architecture);
  const isOpen = chosen !== undefined || uncompared === undefined;
  const likelyHandler = isOpen ? undefined : handlerOfTask(ownHandler);
  return {
    handler: chosen ?? (likelyHandler === undefined ? ownHandler : architecture),
    ownHandler,
    likelyHandler,
    uncompared,
  };
}

/**
 * Returns the name of the handler for a repository. One of sentence-transformers may name any architecture, such as the
 * one that it was trained as, and so may one whose name says that it makes vectors, or ranks texts. If a model has no
 * head, its inputs say whether it is one of texts or of images.
 */
async function handlerOfRepository(source: Source, config: Json): Promise<string | undefined> {
  const architecture = architectureOf(config) ?? '';
  const found = handlerByName(source, config);
  if (mayBeOfSentences(found) && (await source.has(SENTENCES))) return 'text_feature_extractor';
  if (found !== architecture || !architecture.endsWith('Model') || knownArchitecture(architecture)) return found;
  // The model's own inputs and outputs say more of a class that is not known.
  if (!isCompared(architecture)) return found;
  const [isText, isImage] = await Promise.all([source.has(TOKENIZER), hasProcessor(source)]);
  if (isText === isImage) return found;
  if (isImage) return 'image_feature_extractor';
  return RERANKER.test(modelNameOf(source.url)) ? 'text_reranker' : 'text_feature_extractor';
}

/** Returns the name of the handler by the class, and by the repository's name where the class may be another task's. */
function handlerByName({ url }: Pick<Source, 'url'>, config: Json): string | undefined {
  const found = handlerOf(config);
  const name = modelNameOf(url);
  const mayRank = found === 'text_generator' || (found === 'text_classifier' && labelCountOf(config) === 1);
  if (mayRank && RERANKER.test(name)) return 'text_reranker';
  const mayEmbed = found === 'text_generator' || found === 'fill_mask';
  return mayEmbed && EMBEDDING.test(name) ? 'text_feature_extractor' : found;
}

/** Returns whether a repository with that handler may be one of sentence-transformers that makes vectors. */
function mayBeOfSentences(handler: string | undefined): boolean {
  const task = handler !== undefined && Object.hasOwn(TASKS, handler) ? TASKS[handler]! : undefined;
  // A cross-encoder compares two texts.
  return handler !== 'text_reranker' && (task === undefined || task.takes === 'text');
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
export function contradictionOf(
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

/** Returns a handler's name if it is a built-in one, rather than the architecture's own name. */
export function handlerOfTask(handler: string | undefined): string | undefined {
  return handler !== undefined && Object.hasOwn(TASKS, handler) ? handler : undefined;
}
