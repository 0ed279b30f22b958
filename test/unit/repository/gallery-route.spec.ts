import { expect, test } from '@playwright/test';
import { address, route } from '../../../demo/page/route.ts';

test('an address names a page and its settings', () => {
  expect(route('')).toEqual({ page: '', settings: {} });
  expect(route('#/')).toEqual({ page: '', settings: {} });
  expect(route('#/background?sample=friends&backdrop=blur')).toEqual({
    page: 'background',
    settings: { sample: 'friends', backdrop: 'blur' },
  });
  expect(route('#/docs/healing?at=what-happens')).toEqual({ page: 'docs/healing', settings: { at: 'what-happens' } });
  // Links that were cut or typed wrongly.
  expect(route('#background')).toEqual({ page: 'background', settings: {} });
  expect(route('#/%E0%A4%A')).toEqual({ page: '%E0%A4%A', settings: {} });
});

test('settings survive a link, whatever is in them', () => {
  const settings = { text: 'Où? #1 & 2 % = ü/新', empty: '' };
  expect(route(address('language', settings))).toEqual({ page: 'language', settings });
  expect(address('digits')).toBe('#/digits');
  expect(address('')).toBe('#/');
});
