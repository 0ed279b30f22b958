import { expect, test } from '@playwright/test';

test('the sample, with times', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  // No model of speech runs on WebGL: WASM takes its place.
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend === 'webgl' ? 'wasm' : backend}.`);
  await page.getByRole('button', { name: 'Sample' }).click();
  await expect(page.getByRole('listitem').last()).toHaveText(/0:0\d.*mind the gap/i);
});
