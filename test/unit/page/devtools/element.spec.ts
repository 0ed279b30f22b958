import { expect, test } from '@playwright/test';
import * as devtools from '../../../../src/devtools.ts';

test('where there is no DOM, as when an app is rendered on a server, the entry can be imported', () => {
  expect('HTMLElement' in globalThis).toBe(false);
  expect(Object.keys(devtools).toSorted()).toEqual(['TabServeDevtools', 'deviceReport', 'mountDevtools']);
});
