import { setFlagsFromString } from 'node:v8';
import type { Archive } from '../../contract/archive.js';
import { archiveFor, fileName, partsOf, type Part } from '../../contract/archive-parts.js';
import type { ModelFormat } from '../../contract/backends.js';
import type { Context, HandlerClass } from '../../contract/handler.js';
import type { Session } from '../../contract/tensors.js';
import type { Sample, Tried } from '../../contract/wire.js';
import { PredictionError } from '../../contract/errors.js';
import type { Engine } from '../../worker/engines/engine.js';
import { BaseHandler } from '../../worker/handlers/base-handler.js';
import { HANDLER_NAMES, loadHandler } from '../../worker/handlers/registry.js';
import { WorkflowHandler } from '../../worker/handlers/workflow-handler.js';
import { batchContext } from '../../worker/host/context.js';
import { checkConfigs, OpenHandlers } from '../../worker/host/open-handlers.js';
import { at, tryAnswers, tryOut, withModels } from '../../worker/host/prove.js';
import { Recorder } from '../../worker/host/recorder.js';
import { startEngine } from '../../server/node/engines.js';

/**
 * V8 optimizes WebAssembly that has run for a while, in the background, and no process ends before that is done. For
 * the few runs of a command this takes longer than it saves, so it begins later: by default at 1,800,000.
 */
const OPTIMIZE_AFTER = '--wasm-tiering-budget=100000000';

/** The result of one model's golden examples. */
interface TriedPart {
  /** The model's file, by its path in the whole archive. */
  readonly model: string;
  readonly tried: Tried;
}

/** An archive's model and handler, open under Node. */
export interface LocalModel extends AsyncDisposable {
  /** Problems of its config that do not stop it. */
  readonly warnings: readonly string[];
  /** What the golden examples of each model have shown: of the archive's own, and those of its nodes. */
  readonly tried: readonly TriedPart[];
  /**
   * Handles one input, and returns the first run of each model for it, or what the handler's `goldenModel` computes;
   * `node` is undefined for the archive's own.
   * @throws the row's `PredictionError`
   */
  record(input: unknown): Promise<readonly Sample[]>;
  /** The archive's own model; undefined if its nodes have the models. */
  readonly own: Pick<Session, 'inputs' | 'run'> | undefined;
}

/**
 * Opens an archive under Node with its own handler, and proves it by its golden examples, as a browser does. A
 * workflow, or a node, whose handler is the app's own is opened without it, so that its models are still proven.
 * @throws `unknown-handler`, `model-config`, `model-format`, `backend-failed`; `backend-wrong` if a golden example is
 *   not reproduced
 */
export async function openLocally(whole: Archive, format: ModelFormat): Promise<LocalModel> {
  setFlagsFromString(OPTIMIZE_AFTER);
  const archive = archiveFor(whole, format);
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const Class = archive.nodes ? await handlerOf(archive) : await loadHandler(archive.manifest.model.handler);
  await checkConfigs(archive, warn);
  const sessions: Session[] = [];
  const recorded: RecordedRun[] = [];
  const candidate = format === 'onnx' ? 'onnx/wasm' : 'tfjs/cpu';
  const engine = recording(await startEngine(candidate), sessions, recorded);
  const handlers = new OpenHandlers({ engine, candidate, handlerOf, warn });
  const { handler, environment } = await handlers.start(archive, Class, new Recorder());
  const tried: TriedPart[] = [];
  const answers = await tryAnswers(handlers.open);
  if (answers > 0)
    tried.push({ model: 'all models together', tried: { golden: answers, error: 0, suspicion: undefined } });
  for (const opened of withModels(handlers.open)) {
    const context = batchContext(opened.environment, {});
    tried.push({
      model: modelPath(archive, opened.archive, format),
      tried: await at(opened, () => tryOut(opened.handler, context, opened.archive)),
    });
  }
  const models = await Promise.all(
    withModels(handlers.open).map(async ({ node, environment: own }) => [node, await own.open()] as const),
  );
  return {
    warnings,
    tried,
    own: models.find(([node]) => node === '')?.[1],
    async record(input) {
      recorded.length = 0;
      const context = batchContext(environment, {});
      const { goldenModel } = handler;
      if (goldenModel) {
        const feeds = await goldenModel.feeds(input, context);
        return [{ feeds, outputs: await goldenModel.run(feeds) }];
      }
      const [result] = await handler.handle([input as never], context);
      if (result instanceof PredictionError) throw result;
      return models.flatMap(([node, session]) => {
        const first = recorded.find((one) => one.session === session);
        return first ? [{ ...first.sample, ...(node !== '' && { node }) }] : [];
      });
    },
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) await session[Symbol.asyncDispose]();
    },
  };
}

function modelPath(whole: Archive, archive: Archive, format: ModelFormat): string {
  const part: Part = partsOf(whole).find((one) => one.archive === archive)!;
  return fileName(part, archive.models[format]!);
}

/** Returns the class for an archive: the built-in one that it names, or one that only opens it. */
async function handlerOf({ manifest, nodes }: Archive): Promise<HandlerClass> {
  const { handler } = manifest.model;
  if (handler !== undefined && (HANDLER_NAMES as readonly string[]).includes(handler))
    return await loadHandler(handler);
  if (!nodes) return BaseHandler;
  return class extends WorkflowHandler {
    override async initialize(context: Context): Promise<void> {
      for (const name of Object.keys(nodes)) await context.openHandler(name);
    }
    override inference = (): never[] => [];
  };
}

interface RecordedRun {
  readonly session: Session;
  readonly sample: Sample;
}

/** Returns an engine that records the sessions that it opens, and their runs. */
function recording(engine: Engine, sessions: Session[], recorded: RecordedRun[]): Engine {
  return {
    version: engine.version,
    threads: engine.threads,
    memory: () => engine.memory(),
    async open(files, path, options) {
      const session = await engine.open(files, path, options);
      const own: Session = {
        inputs: session.inputs,
        outputs: session.outputs,
        metadata: session.metadata,
        async run(feeds) {
          const outputs = await session.run(feeds);
          recorded.push({ session: own, sample: { feeds, outputs } });
          return outputs;
        },
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      };
      sessions.push(own);
      return own;
    },
  };
}
