import { expect, test } from '@playwright/test';
import type { Probe } from '../../../../src/contract/backends.ts';
import { connect } from '../../../../src/index.ts';
import { EchoWorker } from '../../support/fake-worker.ts';

/** What each worker's probe was told, and what it found. */
const probes: { known: Probe | undefined; found: Probe }[] = [];
let hasGpu = true;

class ProbedWorker extends EchoWorker {
  protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
    const answer = (await super.answer(method, args)) as { readonly value?: { readonly probe?: Probe } };
    const { probe } = answer?.value ?? {};
    if (!probe) return answer;
    const found: Probe = hasGpu ? { ...probe, webgpu: { available: true, shaderF16: false } as never } : probe;
    const known = args[0] as Probe | undefined;
    probes.push({ known, found: known ?? found });
    return { ok: true, value: { ...answer.value, probe: known ?? found } };
  }
}

test('a GPU that was away while one client healed is there for the next client', async () => {
  const workers: ProbedWorker[] = [];
  const make = () =>
    connect(
      () => {
        workers.push(new ProbedWorker());
        return workers.at(-1) as unknown as Worker;
      },
      { model: 'http://127.0.0.1/model.onnx' },
    );
  const client = make();
  await client.initialize();
  hasGpu = false;
  workers.at(-1)!.dispatchEvent(new Event('error'));
  await client.handle(['a']);
  expect(probes.at(-1)).toMatchObject({ known: undefined, found: { webgpu: { available: false } } });

  hasGpu = true;
  const next = make();
  await next.initialize();
  expect(probes.at(-1)).toMatchObject({ known: undefined, found: { webgpu: { available: true } } });
  await Promise.all([client.dispose(), next.dispose()]);
});
