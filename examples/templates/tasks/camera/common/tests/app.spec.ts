import { expect, test } from '@playwright/test';

test('objects in a photo, and frames of the camera', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend}.`);
  const found = page.locator('.found');
  await page.getByLabel('Choose a photo').setInputFiles('public/models/nanodet/samples/party.jpg');
  await expect(found).toHaveText('person, person, wine glass');

  // Chromium's test picture is green, and shows a counter: no object.
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await expect(found).not.toHaveText(/person/);
  await page.getByRole('button', { name: 'Stop the camera' }).click();
  await expect(page.getByRole('button', { name: 'Start the camera' })).toBeVisible();
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend}.`);
});
