import { expect, test } from '@playwright/test';

test('what TorchServe answers: a seven is odd', async ({ page }) => {
  const backend = test.info().project.name;
  await page.goto(`/?backend=${backend}`);
  await expect(page.getByRole('status')).toHaveText(`Ready, on ${backend}.`);
  await page
    .getByLabel('Choose photos')
    .setInputFiles(['drawn-7', 'digit-4'].map((name) => `public/models/digits/samples/${name}.png`));
  const answer = page.locator('pre');
  await expect(answer).toContainText('"digit": 4');
  const [seven, four] = JSON.parse((await answer.textContent())!);
  expect(seven).toMatchObject({ digit: 7, even: false });
  expect(seven.confidence).toBeGreaterThan(0.9);
  expect(four).toMatchObject({ digit: 4, even: true });
});
