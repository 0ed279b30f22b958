import { archiveFor, type Archive } from '../contract/archive.js';
import type { EngineName } from '../contract/backends.js';
import type { Session, Tensors } from '../contract/tensors.js';
import type { Sample, Tried } from '../contract/wire.js';
import { PredictionError } from '../contract/errors.js';
import { loadHandler } from '../handlers/registry.js';
import { checkConfig } from '../models/config.js';
import { openFiles } from '../models/archive.js';
import { batchContext, type HandlerEnvironment } from '../worker/context.js';
import { tryOut } from '../worker/warm-up.js';
import { nodeEngines } from './node-engines.js';

/** An archive's model and handler, open under Node. */
export interface LocalModel extends AsyncDisposable {
  /** Problems of its config that do not stop it. */
  readonly warnings: readonly string[];
  /** What the golden examples have shown. */
  readonly tried: Tried;
  /** Handles one input, and returns the model's first run for it. @throws the row's `PredictionError` */
  record(input: unknown): Promise<Sample>;
  /** Runs the model. */
  run(feeds: Tensors): Promise<Tensors>;
  readonly inputs: Session['inputs'];
}

/**
 * Opens an archive under Node with its own handler, and proves it by its golden examples, as a browser does.
 * @throws `unknown-handler`, `model-config`, `model-format`, `backend-failed`; `backend-wrong` if a golden example is not reproduced
 */
export async function openLocally(whole: Archive, format: EngineName): Promise<LocalModel> {
  const archive = archiveFor(whole, format);
  const warnings: string[] = [];
  const warn = (message: string): void => void warnings.push(message);
  const Class = await loadHandler(archive.manifest.model.handler);
  checkConfig(archive.config, warn);
  const engine = await nodeEngines[format === 'onnx' ? 'onnx/wasm' : 'tfjs/cpu']();
  const files = await openFiles(archive);
  const session = await engine.open(files, archive.models[format]!, archive.config.engine ?? {});
  const recorded: Sample[] = [];
  const recording: Session = {
    inputs: session.inputs,
    outputs: session.outputs,
    async run(feeds) {
      const outputs = await session.run(feeds);
      recorded.push({ feeds, outputs });
      return outputs;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
  const { url: modelDir, manifest, config } = archive;
  const environment: HandlerEnvironment = {
    modelDir,
    manifest,
    config,
    files,
    warn,
    open: (path) =>
      path === undefined ? Promise.resolve(recording) : engine.open(files, path, archive.config.engine ?? {}),
  };
  const handler = new Class();
  await handler.initialize(batchContext(environment, {}));
  const tried = await tryOut(handler, batchContext(environment, {}), archive);
  return {
    warnings,
    tried,
    inputs: session.inputs,
    run: (feeds) => session.run(feeds),
    async record(input) {
      recorded.length = 0;
      const [result] = await handler.handle([input as never], batchContext(environment, {}));
      if (result instanceof PredictionError) throw result;
      return recorded[0]!;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
