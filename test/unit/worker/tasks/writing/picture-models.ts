/** Tiny models of random weights that read pictures, in Hugging Face's layout, on ONNX Runtime under Node: `test/models/pictures`. */
import { existsSync, readFileSync } from 'node:fs';
import sharp from 'sharp';
import type { Files } from '../../../../../src/contract/archive.ts';
import type { Context } from '../../../../../src/contract/handler.ts';
import type { Session } from '../../../../../src/contract/tensors.ts';
import { startEngine } from '../../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import type { GeneratedText } from '../../../../../src/worker/generation/answer.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';
import type { ImageTextMessage } from '../../../../../src/worker/tasks/writing/image-text-to-text.ts';
import { readerOf } from '../../../../../src/worker/tasks/writing/picture-readers.ts';
import type { ReadPicture } from '../../../../../src/worker/tasks/writing/picture-reader.ts';
import type { TextGenerator } from '../../../../../src/worker/tasks/writing/text-generator.ts';
import { soundOf } from '../../../../models/tasks/sound.ts';

const FOLDER = new URL('../../../../models/pictures/', import.meta.url);
export const read = (path: string): Buffer => readFileSync(new URL(path, FOLDER));

/** A conversation, and what transformers makes of it. */
export interface Row {
  readonly images: readonly string[];
  /** Numbers of samples. */
  readonly sounds?: readonly number[];
  readonly messages: readonly { readonly role: string; readonly content: readonly { readonly type: string }[] }[];
  readonly inputIds: readonly number[];
  readonly tiles: readonly (readonly number[])[];
  /** Where patches are, of a model that reads it. */
  readonly places?: readonly (readonly number[])[];
  /** Of sounds. */
  readonly features?: readonly (readonly number[])[];
  readonly tokens: readonly number[];
  readonly text: string;
}

export const EXPECTED = JSON.parse(read('expected.json').toString()) as Readonly<Record<string, readonly Row[]>>;

export async function pixelsOf(file: string) {
  const { data, info } = await sharp(read(file)).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), dims: [info.height, info.width, 3] };
}

export const recording = (length: number) => ({ samples: soundOf(length), sampleRate: 16_000 });

/** The conversation of a row, with its pictures and recordings in place. */
export async function messagesOf({ images, sounds = [], messages }: Row): Promise<readonly ImageTextMessage[]> {
  const pixels = await Promise.all(images.map(pixelsOf));
  let [nextImage, nextSound] = [0, 0];
  return messages.map(({ role, content }) => ({
    role,
    content: content.map((part) => {
      if (part.type === 'image') return { ...part, image: pixels[nextImage++]! };
      return part.type === 'audio' ? { ...part, audio: recording(sounds[nextSound++]!) } : part;
    }),
  })) as never;
}

/** Changes the fields of a file. */
export type FileChange = Readonly<Record<string, (fields: Record<string, unknown>) => object>>;

/** Opens a model, and returns the function that asks it some rows as a batch. */
export async function open(
  handler: TextGenerator,
  change: (session: Session, name: string) => Session = (one) => one,
  model = 'smolvlm',
  changes: FileChange = {},
) {
  const engine = await startEngine('onnx/cpu');
  const session = async (name: string): Promise<Session> => {
    const files = createFiles({ 'model.onnx': new Blob([read(`${model}/onnx/${name}.onnx`) as never]) });
    return change(await engine.open(files, 'model.onnx', {}), name);
  };
  const names = [
    'tokenizer.json',
    'tokenizer_config.json',
    'generation_config.json',
    'config.json',
    'chat_template.jinja',
    'preprocessor_config.json',
    'processor_config.json',
  ].filter((file) => existsSync(new URL(`${model}/${file}`, FOLDER)));
  const fileOf = (file: string): Blob => {
    const bytes = read(`${model}/${file}`);
    const changed = changes[file]?.(JSON.parse(bytes.toString()) as Record<string, unknown>);
    return new Blob([changed ? JSON.stringify(changed) : (bytes as never)]);
  };
  const sessions = new Map<string | undefined, Promise<Session>>();
  const given = {
    session: await session('decoder_model_merged'),
    config: { handler: { contextLength: 512 } },
    files: Object.fromEntries(names.map((file) => [file, fileOf(file)])),
  };
  const first = createTestContext(given);
  const context = (rows: number): Context => ({
    ...createTestContext({ ...given, kept: first.kept, batchSize: rows } as never),
    open: (name) => {
      if (name === undefined) return Promise.resolve(given.session);
      if (!sessions.has(name)) sessions.set(name, session(name));
      return sessions.get(name)!;
    },
  });
  await handler.initialize(context(1));
  return async (rows: readonly unknown[], own: Partial<Context> = {}) =>
    (await handler.handle(rows as never, { ...context(rows.length), ...own })) as readonly GeneratedText[];
}

/** Returns the files of a model, for what reads them alone. */
export function filesOf(model: string): Files {
  const json = (name: string): Promise<unknown> => Promise.resolve(JSON.parse(read(`${model}/${name}`).toString()));
  const has = (name: string): boolean => existsSync(new URL(`${model}/${name}`, FOLDER));
  return { has, json } as Files;
}

/** Returns how a model reads a picture. */
export async function readPicture(model: string, file: string): Promise<ReadPicture> {
  const reader = await readerOf(filesOf(model));
  return await reader.read(await createTestContext().decodeImage(await pixelsOf(file)));
}
