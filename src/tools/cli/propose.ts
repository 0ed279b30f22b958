/** What an archive of a model's file would hold: the likely handler, its config, and the files that belong to it. */
import { readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Archive, ModelConfig } from '../../contract/archive.js';
import type { OutputInfo, Session } from '../../contract/tensors.js';
import { formatOf } from '../../shared/model-url.js';
import { withOwnHandler } from '../../worker/host/file-handler.js';
import { nearestHandlers } from '../../worker/host/nearest-handler.js';
import { LABELS } from '../../worker/models/manifest.js';
import { TOKENIZER, TOKENIZER_CONFIG } from '../../worker/models/hugging-face/inputs.js';
import { TASKS } from '../../worker/tasks/index.js';
import { describeOutputs } from '../../worker/outputs/boxes/decoder.js';
import { guessConfig } from './guess-config.js';

/** Lines of a table, with their labels. */
export type Rows = (readonly [label: string, values: readonly string[]])[];

/** What a model's file declares. */
export type Declared = Pick<Session, 'inputs' | 'outputs' | 'metadata'>;

/** The likely archive of a model's file. */
export interface Proposal {
  readonly handler: string;
  /** Other handlers that read such outputs, the nearest first. */
  readonly others: readonly string[];
  /** What shows the handler. */
  readonly reason: string;
  readonly config: ModelConfig;
  /** What no file says, and the config assumes. */
  readonly assumed: readonly string[];
  /** The names of files beside the model that belong to the archive. */
  readonly beside: readonly string[];
  /** What the archive should have, and is not beside the model. */
  readonly missing: readonly string[];
  /** Whether the file is opened by its own metadata alone, as a node of a workflow, which no archive of one model is. */
  readonly opensAlone: boolean;
}

/** Files that belong to an archive if they lie beside its model. */
const BESIDE = [LABELS, TOKENIZER, TOKENIZER_CONFIG];

/**
 * Proposes an archive for a model by its metadata, or by its inputs and outputs.
 * @param source the path of the model's file, or a URL, whose folder cannot be listed
 */
export async function propose(source: string, declared: Declared): Promise<Proposal> {
  const { inputs, outputs } = declared;
  const there: readonly string[] = await readdir(dirname(source)).catch(() => []);
  const beside = BESIDE.filter((name) => there.includes(name));
  const own = await withOwnHandler(bareArchive(source), declared);
  if (own)
    return {
      handler: own.manifest.model.handler!,
      others: [],
      reason: `by the file's metadata, task ${declared.metadata!['task']}`,
      config: own.config,
      assumed: [],
      beside,
      missing: [],
      opensAlone: own.nodes !== undefined,
    };
  const found = nearestHandlers(inputs, outputs);
  const handlers = [...new Set(found.map(({ handler }) => handler)), 'base_handler'];
  const handler = handlers[0]!;
  return {
    handler,
    others: handlers.slice(1),
    reason: `by ${describeOutputs(found[0]?.seen ?? outputs)}`,
    ...guessConfig(handler, declared),
    beside,
    missing: missingFiles(handler, beside, outputs),
    opensAlone: false,
  };
}

/** Returns the rows of `inspect` that answer what to do with the model. */
export async function proposalRows(proposal: Proposal): Promise<Rows> {
  const { handler, others, reason, missing } = proposal;
  const config = await configText(proposal);
  const or = others.length > 0 ? [`or ${others.join(', ')}`] : [];
  return [
    ['handler', [`${handler}, ${reason}`, ...or]],
    ['config', config === '' ? ["none: the handler's defaults"] : config.trimEnd().split('\n')],
    ['missing', missing],
  ];
}

/** Returns how the model is opened. */
export function nextStep(source: string, { opensAlone }: Proposal): string {
  return opensAlone
    ? `load('…/${basename(source)}') opens it as it is, and so does tabserve serve`
    : `npx tabserve inspect ${quoted(source)} --write makes the archive ${archiveName(source)}`;
}

/** Returns the text of a `model-config.yaml`; empty if the handler needs none. */
export async function configText({ config, assumed }: Proposal): Promise<string> {
  if (Object.keys(config).length === 0) return '';
  const { dump } = await import('js-yaml');
  const comments = assumed.map((one) => `# Assumed: ${one}\n`).join('');
  return comments + dump(config, { flowLevel: 4, lineWidth: 120, noRefs: true });
}

/** Returns the name of the archive of a model's file or folder. */
export function archiveName(source: string): string {
  const name = basename(source).replace(/\.(onnx|json)$/i, '');
  return name.replace(/[^\w.-]+/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '') || 'model';
}

/** Returns a path as it is written in a command. */
function quoted(path: string): string {
  return /[\s&()';<>|#*?]/.test(path) ? `"${path}"` : path;
}

/** Returns what to put beside the model. */
function missingFiles(handler: string, beside: readonly string[], outputs: readonly OutputInfo[]): readonly string[] {
  const missing: string[] = [];
  const { takes, processor, hasClasses } = TASKS[handler]!;
  if (hasClasses && !beside.includes(LABELS)) {
    const classes = outputs[0]?.dims.length === 2 ? outputs[0].dims[1] : undefined;
    missing.push(`${LABELS}: the labels${typeof classes === 'number' ? ` of ${classes} classes` : ''}, as a list`);
  }
  if ((takes === 'text' || processor === 'tokenizer' || processor === 'both') && !beside.includes(TOKENIZER))
    missing.push(`${TOKENIZER}: in Python, AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER) writes it`);
  return missing;
}

/** Returns an archive of a model's file alone, without a handler. */
function bareArchive(source: string): Archive {
  const file = basename(source);
  return {
    url: source,
    manifest: { model: { modelName: file, serializedFile: file } },
    config: {},
    files: {},
    models: { [formatOf(file)!]: file },
    golden: [],
    integrity: {},
  };
}
