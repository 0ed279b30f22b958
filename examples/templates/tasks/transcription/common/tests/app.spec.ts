import { expect, test } from '@playwright/test';

test('the sample, with times', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  // No model of speech runs on WebGL, and a GPU that is software may be refused: WASM takes its place.
  const ready = backend === 'webgpu' ? /^Ready, on (webgpu|wasm)\.$/ : 'Ready, on wasm.';
  await expect(page.getByRole('status')).toHaveText(ready);
  await page.getByRole('button', { name: 'Sample' }).click();
  await expect(page.getByRole('listitem').last()).toHaveText(/0:0\d.*mind the gap/i);
});
