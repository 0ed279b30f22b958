import { expect, test } from '@playwright/test';

test('a text is found that shares no word with the question', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  // No such model runs on WebGL: WASM takes its place.
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend === 'webgl' ? 'wasm' : backend}.`);
  await page.getByLabel('Question').fill('How do I get my money back?');
  await expect(page.getByRole('listitem').first()).toHaveText(/return an article within 30 days/);
});
