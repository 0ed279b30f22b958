/** A language model whose worker can be killed. */
import { connect, type Backend, type Client, type Progress } from '../../src/index.js';
import type { TextGenerator } from '../../src/worker.js';
import type { HubModel } from './hub.js';

/** What the visitor sets. */
export interface WritingParams {
  readonly maxNewTokens: number;
  readonly doSample: boolean;
  readonly temperature?: number;
  readonly topK?: number;
  readonly seed: number;
}

export interface Writer {
  readonly backend: Backend;
  /** Streams what follows a text, or the answer to it as a message. The last item is the result. */
  write: Client<TextGenerator>['stream'];
  /** Ends the worker, as a crash would. */
  kill(): void;
  dispose(): void;
}

interface WriterEvents {
  progress(progress: Progress): void;
  /** Is called when another worker runs the model, after one was lost; with milliseconds. */
  recovered(took: number, backend: Backend): void;
  /** Is called when nothing can run the model any longer. */
  failed(error: unknown): void;
}

/** Opens the gallery's model, or one of Hugging Face. @throws a `TabServeError`, if it cannot be opened */
export async function openWriter(
  model: HubModel | undefined,
  signal: AbortSignal,
  events: WriterEvents,
): Promise<Writer> {
  let worker: Worker | undefined;
  const client = connect<TextGenerator>(
    () => (worker = new Worker(new URL('./writer.worker.ts', import.meta.url), { type: 'module' })),
    model
      ? {
          model: `https://huggingface.co/${model.repository}`,
          config: { engine: { dtype: model.dtype } },
        }
      : { model: 'models/writer/' },
  );
  client.on('recover', ({ took, backend }) => events.recovered(took, backend));
  client.on('fail', events.failed);
  try {
    await client.initialize({ signal, onProgress: events.progress });
  } catch (error) {
    void client.dispose();
    throw error;
  }
  return {
    get backend() {
      return client.backend!;
    },
    write: (input, options) => client.stream(input, options),
    kill: () => worker?.terminate(),
    dispose: () => void client.dispose(),
  };
}
