/** Opens Whisper and Moonshine of `test/models/tasks` as a worker does, with changed files and outputs. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ModelConfig } from '../../../src/contract/archive.ts';
import { archiveFor } from '../../../src/contract/archive-parts.ts';
import type { Tensors } from '../../../src/contract/tensors.ts';
import { startEngine } from '../../../src/server/node/engines.ts';
import type { Engine } from '../../../src/worker/engines/engine.ts';
import { loadHandler } from '../../../src/worker/handlers/registry.ts';
import type { LiveText } from '../../../src/worker/handlers/live-speech.ts';
import type { SpeechToText, TranscribedText } from '../../../src/worker/tasks/transcription/speech-to-text.ts';
import { batchContext } from '../../../src/worker/host/context.ts';
import { OpenHandlers } from '../../../src/worker/host/open-handlers.ts';
import { Recorder } from '../../../src/worker/host/recorder.ts';
import { fetchWorkflow, fetchWorkflowModels } from '../../../src/worker/models/fetch.ts';
import { soundOf } from '../../models/tasks/sound.ts';

type Json = Readonly<Record<string, unknown>>;

export const RATE = 16_000;

export const sound = (seconds: number) => ({ samples: soundOf(seconds * RATE), sampleRate: RATE });
/** Returns an engine whose models have other outputs. */
const changed = (engine: Engine, change: (outputs: Tensors) => Tensors): Engine => ({
  version: engine.version,
  threads: engine.threads,
  memory: () => engine.memory(),
  async open(...given) {
    const session = await engine.open(...given);
    const { inputs, outputs } = session;
    return {
      inputs,
      outputs,
      run: async (...own) => change(await session.run(...own)),
      [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
    };
  },
});

/** Opens a repository of `test/models/tasks` as a worker does. @param changes of its JSON files, by their names */
export async function openSpeech(
  repository: 'write-whisper' | 'write-whisper-words' | 'write-whisper-english' | 'write-moonshine',
  changes: Readonly<Record<string, Json>> = {},
  config: ModelConfig = {},
  change: (outputs: Tensors) => Tensors = (outputs) => outputs,
) {
  const folder = new URL(`../../models/tasks/${repository}/`, import.meta.url);
  const paths = (readdirSync(folder, { recursive: true }) as string[]).filter((path) => /\.(json|onnx)$/.test(path));
  const from = Object.fromEntries(
    paths.map((path) => {
      const data = readFileSync(new URL(path, folder));
      const changed = changes[path] && JSON.stringify({ ...(JSON.parse(data.toString()) as Json), ...changes[path] });
      return [`m/${path}`, new Blob([changed ?? data])];
    }),
  );
  const options = { fetch: globalThis.fetch, handlerClass: loadHandler, config };
  const archive = archiveFor(await fetchWorkflowModels(await fetchWorkflow(from, options), 'onnx', options), 'onnx');
  const warnings: string[] = [];
  const handlers = new OpenHandlers({
    engine: changed(await startEngine('onnx/cpu'), change),
    candidate: 'onnx/cpu',
    handlerOf: ({ manifest }) => loadHandler(manifest.model.handler),
    warn: (message) => warnings.push(message),
  });
  const Class = await loadHandler(archive.manifest.model.handler);
  const { handler, environment } = await handlers.start(archive, Class, new Recorder());
  return {
    warnings,
    /** Opens a sequence. @returns what answers its next piece */
    openSequence() {
      let state: unknown;
      return async (input: unknown, params: object = {}): Promise<LiveText> => {
        const own = { params: [params as never], sequenceIds: ['1'], states: [state] };
        const context = batchContext(environment, own);
        const [result] = await handler.handle([input] as never, context);
        // As it crosses to the page and back.
        state = structuredClone(context.newStates.get(0));
        return result as LiveText;
      };
    },
    async ask(inputs: readonly unknown[], params: object = {}, resumed?: unknown) {
      const parts: string[] = [];
      const resumes: unknown[] = [];
      const send = async (_: number, part: unknown, resume: unknown): Promise<void> => {
        parts.push(part as string);
        resumes.push(resume);
      };
      const own = { batchSize: inputs.length, params: inputs.map(() => params as never), send, resumed };
      const rows = await (handler as SpeechToText).handle(inputs as never, batchContext(environment, own));
      return { rows: rows as readonly TranscribedText[], parts, resumes };
    },
  };
}
