// The backend `remote` on the real servers, each of which is killed while it is asked: the client goes on by itself, and
// no request fails. `npm run interop` starts them.
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { askAndKill, killable } from './interop/killed.ts';
import { differences } from './interop/question.ts';
import { CLASSES, scene } from './interop/requests.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');
const archive = (name: string): string => fileURLToPath(new URL(`test/goldens/interop/archives/${name}/`, root));

test.skip(Object.keys(killable).length === 0, 'npm run interop starts the servers');

for (const [name, binary] of [
  ['mlserver', false],
  ['kserve', true],
] as const)
  test(`${name}: killed in the middle, and the CPU goes on`, async () => {
    const server = killable[name]!;
    const client = await load(archive('numbers'), {
      handler: 'base_handler',
      backends: ['remote', 'cpu'],
      remote: { url: server.inference, binary },
    });
    expect(client.backend?.name).toBe('remote');
    const recoveries: unknown[] = [];
    client.on('recover', (recovery) => recoveries.push(recovery));
    const answers = await askAndKill(server, 60, async (index) => {
      const x = { dtype: 'float32' as const, dims: [2, 3], data: Float32Array.of(index, 1, 2, 3, 4, 5.5) };
      const count = { dtype: 'int64' as const, dims: [2], data: BigInt64Array.of(2n, 3n) };
      const { sums, twice } = await client.infer({ x, count });
      return [...(sums!.data as Float32Array), ...(twice!.data as BigInt64Array)].map(Number);
    });
    expect(answers).toEqual(Array.from({ length: 60 }, (_, index) => [(index + 3) * 2, 37.5, 4, 6]));
    expect(client.backend?.name).toBe('cpu');
    expect(recoveries).not.toEqual([]);
    await client.dispose();
  });

test('torchserve: killed in the middle, and the CPU goes on', async () => {
  const server = killable['torchserve']!;
  const client = await load(archive('classifier'), {
    handler: 'image_classifier',
    backends: ['remote', 'cpu'],
    remote: { url: server.inference, model: 'tensors', protocol: 'torchserve' },
    config: {
      engine: {
        remote: {
          inputs: [{ name: 'images', dtype: 'float32', dims: ['batch', 3, 224, 224] }],
          outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch', 7] }],
        },
      },
    },
  });
  expect(client.backend?.name).toBe('remote');
  const answers = await askAndKill(server, 15, () =>
    client.predict(new Blob([new Uint8Array(scene)]), { params: { result: 'torchserve' } }),
  );
  for (const answer of answers) expect(differences(CLASSES, answer)).toEqual([]);
  expect(client.backend?.name).toBe('cpu');
  await client.dispose();
});
