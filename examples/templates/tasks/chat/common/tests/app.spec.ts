import { expect, test } from '@playwright/test';

test('an answer, word by word', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  // No language model runs on WebGL: WASM takes its place.
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend === 'webgl' ? 'wasm' : backend}.`);
  await page.getByLabel('Message').fill('Once upon a time there was a king who');
  await page.getByRole('button', { name: 'Send' }).click();
  const answer = page.locator('.message.assistant');
  await expect(answer).toHaveText(/\w+ \w+ \w+/);
  // On a fast device the answer may have ended: then the button is Send, and sends no empty message.
  await page.getByRole('button', { name: /Stop|Send/ }).click();
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible();
  await expect(page.getByRole('status')).not.toHaveClass(/error/);
});
