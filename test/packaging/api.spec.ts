import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { apiReports, handlersReport } from '../../scripts/api-report.mjs';

const folder = new URL('../../api/', import.meta.url);

test('what each entry exports is what api/ says, and has a docblock; so is what each handler takes', async () => {
  const { reports, undocumented } = apiReports();
  expect(undocumented).toEqual([]);
  const committed = readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]);
  expect(Object.fromEntries(committed), 'npm run build && npm run api writes them anew').toEqual({
    ...reports,
    'handlers.txt': await handlersReport(),
  });
});
