import { TabServeError } from '../../src/contract/errors.ts';
import { ModelServer } from '../../src/server/model-server.ts';
import { Automata } from '../../src/worker/generation/grammar/automata.ts';
import { formatGrammar, type ResponseFormat } from '../../src/worker/generation/grammar/response-format.ts';
import { FakeClient } from '../unit/support/fake-client.ts';
import { WRITER } from '../unit/support/openai-client.ts';

/** Where each body goes. */
const PATHS: Readonly<Record<string, string>> = {
  chat: 'chat/completions',
  format: 'chat/completions',
  completion: 'completions',
  embeddings: 'embeddings',
};

/**
 * Sends a body to a server with OpenAI's API, whose models answer at once. A schema for the answer is read as the model
 * would.
 * @throws `invalid-input` for a status of 400 to 499, which has words; an Error for any other status that is no 200
 */
export async function askOpenAi(seed: string, body: Uint8Array): Promise<void> {
  const server = new ModelServer();
  await server.register(
    new FakeClient(WRITER, ({ options }) => {
      const format = (options.params as { readonly responseFormat?: ResponseFormat } | undefined)?.responseFormat;
      const automaton = format && formatGrammar(format, new Automata());
      if (automaton) {
        automaton.beginSearch();
        automaton.step(automaton.start, '{'.charCodeAt(0));
      }
      return { text: 'Hi', finishReason: 'stop', usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 1 } };
    }),
  );
  const embedder = {
    modelName: 'embedder',
    handler: 'text_feature_extractor',
    takes: 'text',
    makes: 'vector',
    resultForms: [],
  } as const;
  await server.register(
    new FakeClient(embedder, ({ input }) => (input as readonly string[]).map(() => Float32Array.of(1, 0, 0))),
  );
  const path = PATHS[/openai-(\w+)\.json$/.exec(seed)![1]!]!;
  const response = await server.fetch(
    new Request(`http://server/v1/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: body as BodyInit,
    }),
  );
  const text = await response.text();
  if (response.status === 200) return;
  const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
  if (response.status < 500 && typeof error?.message === 'string')
    throw new TabServeError('invalid-input', error.message);
  throw new Error(`${path} was answered with status ${response.status}: ${text.slice(0, 300)}`);
}
