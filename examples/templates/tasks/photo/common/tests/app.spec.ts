import { expect, test } from '@playwright/test';

test('a seven is a seven', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend}.`);
  await page.getByLabel('Choose a photo').setInputFiles('public/models/digits/samples/drawn-7.png');
  await expect(page.getByRole('listitem').first()).toHaveText(/seven\s*9\d %/);
});
