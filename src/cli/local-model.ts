import { archiveFor, fileName, partsOf, type Archive, type Part } from '../contract/archive.js';
import type { ModelFormat } from '../contract/backends.js';
import type { Context } from '../contract/handler.js';
import type { Session, Tensors } from '../contract/tensors.js';
import type { Sample, Tried } from '../contract/wire.js';
import { PredictionError } from '../contract/errors.js';
import type { Engine } from '../engines/engine.js';
import { BaseHandler } from '../handlers/base-handler.js';
import { HANDLER_NAMES, loadHandler } from '../handlers/registry.js';
import { WorkflowHandler } from '../handlers/workflow-handler.js';
import { batchContext } from '../worker/context.js';
import { checkConfigs, Parts, type HandlerClass } from '../worker/parts.js';
import { at, modelParts } from '../worker/prove.js';
import { Recorder } from '../worker/recorder.js';
import { tryOut } from '../worker/warm-up.js';
import { startEngine } from '../node/engines.js';

/** What the golden examples of one model have shown. */
export interface TriedPart {
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
  /** Handles one input, and returns the model's first run for it. @throws the row's `PredictionError` */
  record(input: unknown): Promise<Sample>;
  /** Runs the model. */
  run(feeds: Tensors): Promise<Tensors>;
  readonly inputs: Session['inputs'];
}

/**
 * Opens an archive under Node with its own handler, and proves it by its golden examples, as a browser does. A workflow, or a node, whose handler is the app's own is
 * opened without it, so that its models are proven all the same.
 * @throws `unknown-handler`, `model-config`, `model-format`, `backend-failed`; `backend-wrong` if a golden example is not reproduced
 */
export async function openLocally(whole: Archive, format: ModelFormat): Promise<LocalModel> {
  const archive = archiveFor(whole, format);
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const Class = archive.nodes ? await handlerOf(archive) : await loadHandler(archive.manifest.model.handler);
  checkConfigs(archive, warn);
  const sessions: Session[] = [];
  const recorded: Sample[] = [];
  const engine = recording(await startEngine(format === 'onnx' ? 'onnx/wasm' : 'tfjs/cpu'), sessions, recorded);
  const parts = new Parts({ engine, format, handlerOf, warn });
  const { handler, environment } = await parts.start(archive, Class, new Recorder());
  const tried: TriedPart[] = [];
  for (const part of modelParts(parts.open)) {
    const context = batchContext(part.environment, {});
    tried.push({ model: modelPath(archive, part.archive, format), tried: await at(part, () => tryOut(part.handler, context, part.archive)) }); // prettier-ignore
  }
  const [model] = sessions;
  return {
    warnings,
    tried,
    inputs: model!.inputs,
    run: (feeds) => model!.run(feeds),
    async record(input) {
      recorded.length = 0;
      const [result] = await handler.handle([input as never], batchContext(environment, {}));
      if (result instanceof PredictionError) throw result;
      return recorded[0]!;
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

/** Returns an engine that records the sessions that it opens, and their runs. */
function recording(engine: Engine, sessions: Session[], recorded: Sample[]): Engine {
  return {
    version: engine.version,
    threads: engine.threads,
    memory: () => engine.memory(),
    async open(files, path, options) {
      const session = await engine.open(files, path, options);
      const own: Session = {
        inputs: session.inputs,
        outputs: session.outputs,
        async run(feeds) {
          const outputs = await session.run(feeds);
          recorded.push({ feeds, outputs });
          return outputs;
        },
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      };
      sessions.push(own);
      return own;
    },
  };
}
