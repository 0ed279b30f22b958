/** The Prompt API's `LanguageModel` over a client. */
import type { Progress } from '../../contract/archive.js';
import type { ModelInfo } from '../../contract/handler.js';
import { unlessAborted } from '../../shared/abort.js';
import type { LanguageModelClient } from '../ai-sdk/language-model.js';
import { initialMessages } from './prompts.js';
import { LanguageModelSession } from './session.js';
import type { Availability, AvailabilityOptions, CreateOptions, Expected } from './specification.js';

/** What `LanguageModel` needs of a client. */
export interface PromptClient extends LanguageModelClient {
  describe(): Promise<ModelInfo>;
  dispose(): Promise<void>;
}

/** Opens the model, such as `(options) => load(URL, { handler: 'text_generator', ...options })`. */
export type OpenPromptClient = (options: {
  readonly onProgress: (progress: Progress) => void;
}) => Promise<PromptClient>;

/** An object like the browser's own `LanguageModel`. */
export interface LanguageModel {
  /** Returns whether a session can be created at once. Texts and images are known; sound is not. */
  availability(options?: AvailabilityOptions): Promise<Availability>;
  /**
   * Creates a session. The first one opens the model.
   * @throws `NotSupportedError`, `TypeError`, the signal's reason, and what opening the model throws
   */
  create(options?: CreateOptions): Promise<LanguageModelSession>;
  /** Closes the model. The next session opens it again. */
  dispose(): Promise<void>;
}

/** The progress of a download, from 0 to 1. */
class DownloadProgress extends Event {
  readonly total = 1;
  readonly lengthComputable = true;

  constructor(readonly loaded: number) {
    super('downloadprogress');
  }
}

/**
 * Returns an object like the browser's own `LanguageModel`, so that an app that is written for it runs in every
 * browser: `const LanguageModel = globalThis.LanguageModel ?? languageModel(open)`.
 */
export function languageModel(open: OpenPromptClient): LanguageModel {
  let opening: Promise<PromptClient> | undefined;
  let isOpen = false;
  const monitors = new Set<EventTarget>();
  const tell = (loaded: number): void => {
    for (const monitor of monitors) monitor.dispatchEvent(new DownloadProgress(loaded));
  };
  const opened = (): Promise<PromptClient> => {
    opening ??= open({ onProgress: ({ overall }) => overall.fraction !== undefined && tell(overall.fraction) }).then(
      (client) => {
        isOpen = true;
        return client;
      },
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  return {
    async availability(options = {}) {
      if (!areSupported(options)) return 'unavailable';
      return isOpen ? 'available' : opening ? 'downloading' : 'downloadable';
    },
    async create(options = {}) {
      const { initialPrompts = [], tools = [], topK, temperature, signal, monitor } = options;
      signal?.throwIfAborted();
      if (!areSupported(options))
        throw new DOMException('Only texts and images are read, and only texts written.', 'NotSupportedError');
      const messages = initialMessages(initialPrompts);
      const target = new EventTarget();
      monitor?.(target);
      monitors.add(target);
      try {
        const client = await unlessAborted(opened(), signal).catch((error: unknown) => {
          throw signal?.aborted ? signal.reason : error;
        });
        const { contextLength = Infinity } = await client.describe();
        const isGreedy = temperature === 0 || topK === 1;
        const sampling = { ...(topK !== undefined && { topK }), ...(temperature !== undefined && { temperature }) };
        const isSet = Object.keys(sampling).length > 0;
        const params = isGreedy ? { doSample: false } : isSet ? { doSample: true, ...sampling } : {};
        return new LanguageModelSession({ client, contextWindow: contextLength, params, tools }, messages);
      } finally {
        monitors.delete(target);
      }
    },
    async dispose() {
      const closing = opening;
      opening = undefined;
      isOpen = false;
      await (await closing?.catch(() => undefined))?.dispose();
    },
  };
}

function areSupported({ expectedInputs = [], expectedOutputs = [] }: AvailabilityOptions): boolean {
  const isOf = (types: readonly Expected['type'][]): ((one: Expected) => boolean) => {
    return ({ type }) => types.includes(type);
  };
  return (
    expectedInputs.every(isOf(['text', 'image', 'tool-response'])) && expectedOutputs.every(isOf(['text', 'tool-call']))
  );
}
