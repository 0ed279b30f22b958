import { expect, test } from '@playwright/test';
import { EventLog } from '../../../../src/page/client/log.ts';

test('the log of a client has its last two hundred events, each with its time', () => {
  const log = new EventLog();
  for (let at = 0; at < 250; at++) log.add(`event ${at}`);
  expect(log.entries).toHaveLength(200);
  expect(log.entries[0]).toMatch(/^ *\d+ ms {2}event 50$/);
  log.add('a download', performance.now() - 20);
  expect(log.entries.at(-1)).toMatch(/ms {2}a download \(2\d ms\)$/);
});
