import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { answerOnDevice, readOptions } from '../../../../src/server/service-worker/answer-predictions.ts';
import { DeviceOnlyGuard } from '../../../../src/server/service-worker/device-only-guard.ts';
import {
  MAX_SILENCE_MS,
  PING_MS,
  type Claim,
  type DeviceOnlyRequest,
  type Policy,
} from '../../../../src/server/service-worker/protocol.ts';
import { delivered, FakeServer, SCOPE, World } from '../../support/service-worker-world.ts';

/** A page whose browser sends every request to the network, as Chromium does after a stop at the wrong moment. */
async function guarded(models: Record<string, Policy>, base = '/') {
  const world = new World();
  const device = new FakeServer('device');
  await world.open().host(device).ready;
  const network: string[] = [];
  const global = {
    fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const request = new Request(input, init);
      network.push(`${request.method} ${request.url} ${await request.text()}`);
      return Response.json('network');
    },
  };
  const worker = {
    /** What it does with the next requests: it answers them, or takes them and ends. */
    state: 'answers' as 'answers' | 'ends',
    policies: models,
    postMessage(data: Claim | DeviceOnlyRequest, [port]: [MessagePort]): void {
      const settings = readOptions({ models: worker.policies, base }, SCOPE);
      if (data.tabserve === 'claim') port.postMessage({ base: settings.base.href, models: worker.policies });
      else if (worker.state === 'answers') void answerOnDevice(data, port, settings, world.environment);
      else port.close();
    },
  };
  const page = { active: worker as typeof worker | null, container: new EventTarget() };
  const serviceWorker = {
    getRegistration: async () => ({ active: page.active }),
    addEventListener: page.container.addEventListener.bind(page.container),
  };
  const guard = new DeviceOnlyGuard({ global, serviceWorker, clock: world.clock } as never);
  const unknown = await (await global.fetch(`${SCOPE}predictions/private`)).json();
  expect(unknown, 'without policies every request passes').toBe('network');
  network.length = 0;
  await guard.learn();
  await guard.learned;
  return {
    world,
    device,
    network,
    worker,
    page,
    fetch: (input: RequestInfo | URL, init?: RequestInit) => global.fetch(input, init),
  };
}

const post = (body: string): RequestInit => ({ method: 'post', body });

test('requests to device-only models never take the way that may end on the network; others do', async () => {
  const { world, device, network, fetch } = await guarded({ private: 'device-only', digits: 'device-first' });
  for (const [input, init] of [
    [`${SCOPE}predictions/private`, post('x')],
    [new URL(`${SCOPE}predictions%2Fprivate`), post('x')],
    [new Request(`${SCOPE}v2/models/private/infer`, post('x')), undefined],
    [`${SCOPE}v1/chat/completions`, post('{"model":"private"}')],
    [`${SCOPE}v1/audio/translations`, post('{"model":"private"}')],
  ] as const) {
    const response = await fetch(input, init);
    expect(await response.json()).toBe('device');
    expect(response.headers.get('TabServe-Answered-By')).toBe('device');
  }
  expect(device.got).toEqual([
    'POST /predictions/private x',
    'POST /predictions%2Fprivate x',
    'POST /v2/models/private/infer x',
    'POST /v1/chat/completions {"model":"private"}',
    'POST /v1/audio/translations {"model":"private"}',
  ]);
  expect([network, world.received]).toEqual([[], []]);
  for (const [path, body] of [
    ['predictions/digits', 'x'],
    ['predictions/unknown', 'x'],
    ['v1/chat/completions', '{"model":"digits"}'],
    ['upload', 'x'],
  ] as const)
    expect(await (await fetch(`${SCOPE}${path}`, post(body))).json(), path).toBe('network');
  expect(network).toHaveLength(4);
  expect(network[2]).toBe(`POST ${SCOPE}v1/chat/completions {"model":"digits"}`);
  expect(world.clock.pending).toBe(0);
});

test('a body whose model is compressed, or cannot be read, does not take that way either', async () => {
  const { device, network, fetch } = await guarded({ private: 'device-only', digits: 'device-first' });
  const url = `${SCOPE}v1/chat/completions`;
  const packed = (encoding: string, model: string): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Encoding': encoding },
    body: gzipSync(JSON.stringify({ model })),
  });
  for (const init of [packed('gzip', 'private'), packed('br', 'private'), post('{"model":"private",}')])
    expect(await (await fetch(url, init)).json()).toBe('device');
  expect(device.got).toHaveLength(3);
  expect(network).toEqual([]);
  expect(await (await fetch(url, packed('gzip', 'digits'))).json()).toBe('network');
});

test('the paths may begin on another origin', async () => {
  const { device, network, fetch } = await guarded({ private: 'device-only' }, 'https://models.example/api/');
  expect(await (await fetch('https://models.example/api/predictions/private', post('x'))).json()).toBe('device');
  expect(device.got).toEqual(['POST /predictions/private x']);
  expect(network).toEqual([]);
});

test('where no service worker answers, the request fails with worker-lost', async () => {
  const { world, network, page, worker, fetch } = await guarded({ private: 'device-only' });
  const asked = async (): Promise<unknown> =>
    await fetch(`${SCOPE}predictions/private`, post('x')).catch((error: unknown) => error);
  worker.state = 'ends';
  // The closed port tells in a browser; Node's port has no such event of its own side, so the silence does.
  const failed = asked();
  for (let passed = 0; passed < 3 * MAX_SILENCE_MS; passed += PING_MS) {
    await delivered();
    await world.clock.advance(PING_MS);
  }
  expect(await failed).toMatchObject({ code: 'worker-lost', message: expect.stringContaining('nothing was sent') });
  page.active = null;
  expect(await asked()).toMatchObject({ code: 'worker-lost' });
  expect([network, world.received]).toEqual([[], []]);
  expect(world.clock.pending).toBe(0);
});

test('a service worker that forgets the model meanwhile sends nothing to the server either', async () => {
  const { world, worker, network, page, fetch } = await guarded({ private: 'device-only' });
  // The page has not heard of the new policies.
  worker.policies = { digits: 'server-first' };
  expect(await (await fetch(`${SCOPE}predictions/private`, post('x'))).json()).toBe('device');
  expect([network, world.received]).toEqual([[], []]);
  page.container.dispatchEvent(new Event('controllerchange'));
  await delivered();
  expect(await (await fetch(`${SCOPE}predictions/private`, post('x'))).json()).toBe('network');
});

test('an aborted request rejects with its reason, and the device is told', async () => {
  const { world, device, fetch } = await guarded({ private: 'device-only' });
  device.respond = () => new Promise(() => {});
  const controller = new AbortController();
  const failed = fetch(`${SCOPE}predictions/private`, { ...post('x'), signal: controller.signal });
  await delivered();
  controller.abort();
  await expect(failed).rejects.toMatchObject({ name: 'AbortError' });
  await delivered();
  expect(device.aborted).toEqual(['/predictions/private']);
  expect(world.clock.pending).toBe(0);
});
