/** The language models of `test/models/generation`, and what transformers answers with them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createFiles } from '../../../../src/worker/models/files.ts';
import type { BlobFiles } from '../../../../src/contract/archive.ts';

interface Expected {
  readonly prompts: readonly {
    readonly prompt: string;
    readonly input_ids: readonly number[];
    readonly tokens: readonly number[];
    readonly text: string;
    readonly first_logits: readonly number[];
    readonly last_logits: readonly number[];
    readonly beams?: readonly {
      readonly config: Readonly<Record<string, unknown>>;
      readonly tokens: readonly number[];
      readonly score: number;
    }[];
  }[];
  readonly translations?: readonly {
    readonly srcLang: string;
    readonly tgtLang: string;
    readonly prompt: string;
    readonly input_ids: readonly number[];
    readonly tokens: readonly number[];
    readonly text: string;
  }[];
  readonly chats?: readonly {
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly text?: string;
    readonly input_ids?: readonly number[];
    readonly error?: string;
  }[];
}

export const folderOf = (name: string): string =>
  fileURLToPath(new URL(`../../../models/generation/${name}/`, import.meta.url));

export const GENERATION = JSON.parse(readFileSync(`${folderOf('.')}expected.json`, 'utf8')) as Readonly<
  Record<string, Expected>
>;

const FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'config.json',
  'chat_template.jinja',
];

export const generationFiles = (name: string): BlobFiles =>
  createFiles(
    Object.fromEntries(
      FILES.filter((file) => existsSync(folderOf(name) + file)).map((file) => [
        file,
        new Blob([readFileSync(folderOf(name) + file)]),
      ]),
    ),
  );
