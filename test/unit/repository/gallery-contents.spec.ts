// What the gallery's page "Any model" reads of a visitor's folder.
import { expect, test } from '@playwright/test';
import { segmentClicked } from '../../../demo/any/click-segmenter.ts';
import { droppedFiles, folderContents } from '../../../demo/any/contents.ts';
import { repositoryOf } from '../../../demo/writing/hub.ts';
import type { Client } from '../../../src/index.ts';

const fileOf = (path: string, content: string, size = content.length): File =>
  Object.defineProperties(new File([content], path.split('/').at(-1)!), {
    webkitRelativePath: { value: path },
    size: { value: size },
  });

test('the architecture of a folder is that of its config.json, which has a limit', async () => {
  const config = '{ "architectures": ["ViTModel"] }';
  expect((await folderContents([fileOf('vit/config.json', config)])).architecture).toBe('ViTModel');
  expect((await folderContents([fileOf('vit/config.json', 'null')])).architecture).toBeUndefined();
  await expect(folderContents([fileOf('vit/config.json', config, 300_000_000)])).rejects.toThrow(
    'config.json has 300000000 bytes, and the limit is 10000000',
  );
});

test('the field for a repository takes its name, with a revision or without, and any of its addresses', () => {
  for (const [typed, path] of [
    ['org/name', 'org/name'],
    [' hf:org/name ', 'org/name'],
    ['https://huggingface.co/org/name', 'org/name'],
    ['huggingface.co/org/name/', 'org/name'],
    ['hf.co/org/name', 'org/name'],
    ['https://huggingface.co/org/name/blob/main/onnx/model_q4.onnx', 'org/name'],
    ['org/name@v1.0', 'org/name/tree/v1.0/'],
    ['hf:org/name@refs/pr/4', 'org/name/tree/refs%2Fpr%2F4/'],
    ['https://huggingface.co/org/name/tree/v1/sub', 'org/name/tree/v1/sub/'],
  ] as const)
    expect(repositoryOf(typed).path, typed).toBe(path);
  for (const typed of ['tiny', '', 'https://example.org/org/name', 'hf:org/name/sub', 'a b/c'])
    expect(() => repositoryOf(typed), typed).toThrow(/ORG\/NAME/);
  expect(() => repositoryOf('https://huggingface.co/datasets/org/name')).toThrow('is a dataset, not a model');
});

test('a dropped folder may have a folder of any number of files', async () => {
  const file = new File([], 'a');
  const entryOf = (fullPath: string): object => ({
    isDirectory: false,
    fullPath,
    file: (done: (file: File) => void) => done(Object.create(file, {}) as File),
  });
  const folderOf = (fullPath: string, batches: readonly (readonly object[])[]): object => {
    const left = [...batches];
    return {
      isDirectory: true,
      fullPath,
      createReader: () => ({ readEntries: (done: (entries: readonly object[]) => void) => done(left.shift() ?? []) }),
    };
  };
  const many = Array.from({ length: 200_000 }, () => entryOf('/folder/inner/a'));
  const inner = folderOf('/folder/inner', [many]);
  const folder = folderOf('/folder', [[inner, entryOf('/folder/b')]]);
  const files = await droppedFiles(folder as FileSystemDirectoryEntry);
  expect(files).toHaveLength(200_001);
  expect([files[0], files.at(-1)].map((one) => one!.webkitRelativePath)).toEqual(['folder/inner/a', 'folder/b']);
});

test('a photo that could not be kept is kept with the next click, and the one before is freed', async () => {
  let kept = 0;
  const released: string[] = [];
  const client = {
    keep: async (photo: File) => {
      kept += 1;
      if (kept === 1) throw new Error('The photo cannot be decoded.');
      return { key: photo.name, release: () => released.push(photo.name) };
    },
    predict: async ({ image }: { readonly image: { readonly key: string } }) => [image.key],
  } as unknown as Client;
  const [first, second] = [new File([], 'first'), new File([], 'second')];
  const ask = (photo: File) => segmentClicked(client, { photo, points: [] }, {} as never);
  await expect(ask(first)).rejects.toThrow('cannot be decoded');
  expect(await ask(first)).toEqual(['first']);
  expect(await ask(first)).toEqual(['first']);
  expect(kept).toBe(2);
  expect(await ask(second)).toEqual(['second']);
  expect(released).toEqual(['first']);
});
