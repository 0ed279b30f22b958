/** Opens the encoder–decoder models of `test/models/generation` on ONNX Runtime under Node, as a worker does. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import type { ModelConfig } from '../../../../src/contract/archive.ts';
import { archiveFor } from '../../../../src/contract/archive-parts.ts';
import { PredictionError } from '../../../../src/contract/errors.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import type { GeneratedAnswer, GeneratedText, Prompt } from '../../../../src/worker/generation/answer.ts';
import { loadHandler } from '../../../../src/worker/handlers/registry.ts';
import { TextToText } from '../../../../src/worker/tasks/writing/text-to-text.ts';
import type { TextToTextParams, TextToTextSettings } from '../../../../src/worker/generation/text-to-text-settings.ts';
import { batchContext } from '../../../../src/worker/host/context.ts';
import { OpenHandlers } from '../../../../src/worker/host/open-handlers.ts';
import { Recorder } from '../../../../src/worker/host/recorder.ts';
import { fetchWorkflow, fetchWorkflowModels } from '../../../../src/worker/models/fetch.ts';
import { folderOf } from './models.ts';

export type FileTree = Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>;

export function filesOf(name: string): FileTree {
  const folder = folderOf(name);
  const paths = readdirSync(folder, { recursive: true }) as string[];
  return Object.fromEntries(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path, new Uint8Array(readFileSync(join(folder, path)))]),
  );
}

export const blobs = (files: FileTree): Record<string, Blob> =>
  Object.fromEntries(Object.entries(files).map(([path, data]) => [`m/${path}`, new Blob([data])]));

/** The prompts and answers that went through the stages. */
class Spy extends TextToText {
  readonly prompts: Prompt<TextToTextSettings>[] = [];
  readonly answers: GeneratedAnswer[] = [];
  readonly logits: Float32Array[] = [];

  override async inference(...args: Parameters<TextToText['inference']>): ReturnType<TextToText['inference']> {
    this.prompts.push(...args[0].flatMap((one) => one ?? []));
    const answers = await super.inference(...args);
    this.answers.push(...answers.flatMap((one) => one ?? []));
    return answers;
  }

  protected override nextToken(...args: Parameters<TextToText['nextToken']>): number {
    this.logits.push(args[0].slice());
    return super.nextToken(...args);
  }
}

export async function open(from: Record<string, Blob> | File, config: ModelConfig = {}) {
  const options = { fetch: globalThis.fetch, handlerClass: loadHandler, config };
  const archive = archiveFor(await fetchWorkflowModels(await fetchWorkflow(from, options), 'onnx', options), 'onnx');
  const warnings: string[] = [];
  const handlers = new OpenHandlers({
    engine: await startEngine('onnx/wasm'),
    candidate: 'onnx/wasm',
    handlerOf: ({ manifest }) => loadHandler(manifest.model.handler),
    warn: (message) => warnings.push(message),
  });
  const { handler, environment } = await handlers.start(archive, Spy, new Recorder());
  const spy = handler as Spy;
  return {
    archive,
    handlers,
    spy,
    warnings,
    async ask(text: unknown, params: TextToTextParams = {}, signal?: AbortSignal, resumed?: unknown) {
      for (const list of [spy.prompts, spy.answers, spy.logits]) list.length = 0;
      const parts: unknown[] = [];
      const resumes: unknown[] = [];
      const send = async (_: number, part: unknown, resume: unknown): Promise<void> => {
        parts.push(part);
        resumes.push(resume);
      };
      const own = { params: [params as never], send, resumed, ...(signal && { signal }) };
      const context = batchContext(environment, own);
      const [result] = await spy.handle([text as string], context);
      if (result instanceof PredictionError) throw result;
      return {
        ...(result as GeneratedText),
        parts,
        resumes,
        prompt: spy.prompts[0]!.tokens,
        tokens: spy.answers[0]!.tokens,
      };
    },
  };
}

export const model = (name: string, config?: ModelConfig) => open(blobs(filesOf(name)), config);
/** An error with a code, and words in its message. */
export const code = (name: string, words = ''): unknown =>
  expect.objectContaining({ code: name, message: expect.stringContaining(words) as unknown });
