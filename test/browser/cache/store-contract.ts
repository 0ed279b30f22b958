/** What every store of blobs must do. Runs in Node, on a page and in a worker, so it has assertions of its own. */
import type { BlobStore } from '../../../src/shared/cache/blob-store.js';

type Case = (store: BlobStore) => Promise<void>;

const bytes = (size: number): Blob => new Blob([Uint8Array.from({ length: size }, (_, at) => at % 251)]);

async function same(blob: Blob | undefined, expected: Blob): Promise<void> {
  if (!blob) throw new Error('there is no blob');
  const [got, wanted] = (await Promise.all([blob.arrayBuffer(), expected.arrayBuffer()])).map(
    (buffer) => new Uint8Array(buffer),
  );
  if (got!.length !== wanted!.length) throw new Error(`the blob has ${got!.length} bytes, expected ${wanted!.length}`);
  const wrong = got!.findIndex((byte, at) => byte !== wanted![at]);
  if (wrong >= 0) throw new Error(`byte ${wrong} is ${got![wrong]}, expected ${wanted![wrong]}`);
}

function equal(got: unknown, expected: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(expected))
    throw new Error(`got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
}

const STORE_CONTRACT: Readonly<Record<string, Case>> = {
  async 'a blob is read as it was written'(store) {
    for (const [name, size] of [
      ['empty', 0],
      ['small', 3],
      ['large', 5_000_001],
    ] as const) {
      await store.write(name, bytes(size));
      await same(await store.read(name), bytes(size));
    }
  },
  async 'what was not written is not there'(store) {
    equal(await store.read('none'), undefined);
    await store.delete('none');
    equal(await store.names(), []);
  },
  async 'a blob is replaced, by a shorter one too'(store) {
    await store.write('a', bytes(1000));
    await store.write('a', bytes(10));
    await same(await store.read('a'), bytes(10));
    equal(await store.names(), ['a']);
  },
  async 'names are listed, and deleted ones are not'(store) {
    await Promise.all(['a', 'b.json', 'c.0f'].map((name) => store.write(name, bytes(10))));
    await store.delete('a');
    equal((await store.names()).toSorted(), ['b.json', 'c.0f']);
    equal(await store.read('a'), undefined);
  },
  async 'a blob stays readable after its name is deleted or written again'(store) {
    await store.write('a', bytes(70_000));
    await store.write('b', bytes(70_000));
    const [a, b] = [await store.read('a'), await store.read('b')];
    await store.delete('a');
    await store.write('b', bytes(5));
    await same(a, bytes(70_000));
    await same(b, bytes(70_000));
  },
  async 'a blob that is replaced or deleted while it is read is read in one version, or not at all'(store) {
    const { arrayBuffer } = Blob.prototype;
    const readWhile = async (change: () => Promise<void>): Promise<Blob | undefined> => {
      await store.write('a', bytes(10));
      Blob.prototype.arrayBuffer = async function (this: Blob) {
        Blob.prototype.arrayBuffer = arrayBuffer;
        await change();
        return await arrayBuffer.call(this);
      };
      return await store.read('a').finally(() => (Blob.prototype.arrayBuffer = arrayBuffer));
    };
    const replaced = await readWhile(() => store.write('a', bytes(20)));
    await same(replaced, bytes(replaced?.size === 10 ? 10 : 20));
    const deleted = await readWhile(() => store.delete('a'));
    if (deleted) await same(deleted, bytes(10));
  },
  async 'a store in which something was written is not new'(store) {
    await store.write('a', bytes(1));
    equal(await store.isNew(), false);
  },
  async 'many calls at once'(store) {
    const names = Array.from({ length: 20 }, (_, at) => `file ${at}`.replace(' ', '-'));
    await Promise.all(names.map((name, at) => store.write(name, bytes(at * 100))));
    await Promise.all(names.map(async (name, at) => same(await store.read(name), bytes(at * 100))));
    await Promise.all(names.map((name) => store.delete(name)));
    equal(await store.names(), []);
  },
};

/** Runs each case on the store, emptied before. Returns what went wrong, by case. */
export async function failuresOf(store: BlobStore): Promise<Record<string, string>> {
  const failures: Record<string, string> = {};
  for (const [name, run] of Object.entries(STORE_CONTRACT)) {
    for (const left of await store.names()) await store.delete(left);
    await run(store).catch((error: unknown) => (failures[name] = String(error)));
  }
  for (const left of await store.names()) await store.delete(left);
  return failures;
}
