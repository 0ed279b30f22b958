import { expect, test } from '@playwright/test';
import sharp from 'sharp';
import { withoutColorProfile } from '../../../../src/worker/images/containers/color-profile.ts';
import { fixture } from '../../../hostile-images.ts';

const hide = (bytes: Uint8Array, type: string): Uint8Array => withoutColorProfile(Uint8Array.from(bytes), type);

/** Pixels as they are stored: sharp converts colors only if it does not keep the profile. */
const pixelsOf = async (bytes: Uint8Array): Promise<Buffer> => await sharp(bytes).keepIccProfile().raw().toBuffer();

test('a file without its profile has the same pixels, and no other is changed', async () => {
  const gray = sharp({ create: { width: 40, height: 30, channels: 3, background: '#3a6' } });
  const made = async (format: 'png' | 'jpeg' | 'webp') =>
    await gray.clone().withIccProfile('p3').toFormat(format, { quality: 90 }).toBuffer();
  for (const [type, bytes] of [
    ['image/png', await made('png')],
    ['image/jpeg', await made('jpeg')],
    ['image/webp', await made('webp')],
    ['image/png', fixture('profile.png')],
    ['image/jpeg', fixture('profile.jpg')],
  ] as const) {
    expect((await sharp(bytes).metadata()).icc, type).toBeDefined();
    const hidden = hide(bytes, type);
    expect((await sharp(hidden).metadata()).icc, type).toBeUndefined();
    expect((await pixelsOf(hidden)).equals(await pixelsOf(bytes)), type).toBe(true);
  }
  expect(Buffer.from(fixture('gamma.png')).includes('gAMA')).toBe(true);
  expect(Buffer.from(hide(fixture('gamma.png'), 'image/png')).includes('gAMA')).toBe(false);
  for (const [file, type] of [
    ['rgb.png', 'image/png'],
    ['420.jpg', 'image/jpeg'],
    ['lossy-alpha.webp', 'image/webp'],
    ['lossy.avif', 'image/avif'],
  ] as const)
    expect(hide(fixture(file), type), file).toEqual(Uint8Array.from(fixture(file)));
});

test('a file that ends anywhere is cut, not read beyond', () => {
  for (const [file, type] of [
    ['profile.png', 'image/png'],
    ['profile.jpg', 'image/jpeg'],
    ['lossy-alpha.webp', 'image/webp'],
  ] as const)
    for (let length = 12; length < fixture(file).length; length++)
      expect(hide(fixture(file).slice(0, length), type).length).toBeLessThanOrEqual(length);
});
