// `examples/kserve`: its server in Python, and the same archive in the tab, before which the service worker puts the
// policy device-first. Both give the same names and answers. `npm run interop` starts the server.
import { readFileSync } from 'node:fs';
import { killable } from '../node/interop/killed.ts';
import { differences } from '../node/interop/question.ts';
import { expect, test } from './fixtures.ts';
import { predictionServer } from './prediction-server.ts';

test.use({ reuseTab: false });
test.skip(killable['example'] === undefined, 'npm run interop starts the server');

const instances = ['digit-4', 'digit-9', 'digit-0'].map((name) => ({
  b64: readFileSync(new URL(`../../public/models/digits/samples/${name}.png`, import.meta.url), 'base64'),
}));

test('the tab answers as KServe does; before it hosts the model, when it fails, and when it has gone, KServe answers @once', async ({
  page,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!, undefined, killable['example']!.inference);
  await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.register(1));
  const ask = () =>
    page.evaluate(
      (body) => window.predictions.ask('/v1/models/digits:predict', new Blob([body], { type: 'application/json' })),
      JSON.stringify({ instances }),
    );
  const dispose = () => page.evaluate(() => window.predictions.hosting!.dispose());
  const before = await ask();
  await page.evaluate(() => window.predictions.host(['digits'], false, '/models/digits/'));
  const onDevice = await ask();
  await dispose();
  await page.evaluate(() => window.predictions.hostFailing('digits', '/models/digits/'));
  const failed = await ask();
  await dispose();
  const after = await ask();
  expect([before, onDevice, failed, after].map(({ said }) => said)).toEqual([
    '200 by server, because: no-host',
    '200 by device, because: device-first',
    '200 by server, because: device-failed',
    '200 by server, because: no-host',
  ]);
  for (const { body } of [before, failed, after]) expect(differences(onDevice.body, body)).toEqual([]);
  const { predictions } = onDevice.body as { readonly predictions: readonly object[] };
  expect(predictions.map((found) => Object.keys(found)[0])).toEqual(['four', 'nine', 'zero']);
});
