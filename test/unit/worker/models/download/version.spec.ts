import { expect, test } from '@playwright/test';
import { downloadFile } from '../../../../../src/worker/models/download/download-file.ts';
import { continues, showsHeaders, strongEtag, versionOf } from '../../../../../src/worker/models/download/version.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A response as `fetch` gives it: of the page's own origin (`basic`), or of another one (`cors`). */
function response(
  type: ResponseType,
  headers: Record<string, string> = {},
  { status = 200, body = '' }: { readonly status?: number; readonly body?: string } = {},
): Response {
  return Object.defineProperty(new Response(body, { status, headers }), 'type', { value: type });
}

test('all headers of the page’s own origin are shown, and of another origin those alone that it exposes', () => {
  expect(showsHeaders(response('basic'))).toBe(true);
  expect(showsHeaders(response('default')), 'Node').toBe(true);
  expect(showsHeaders(response('cors'))).toBe(false);
});

test('a body that ends before its length is broken off; of another origin, a hidden compression may be the reason', async () => {
  const download = async (type: ResponseType): Promise<unknown> => {
    let asked = 0;
    const clock = new FakeClock();
    const downloading = downloadFile(new URL('https://site.example/model.onnx'), {
      fetch: async () => {
        asked += 1;
        return response(type, { 'content-length': '10' }, { body: 'seven b' });
      },
      clock,
      random: () => 0,
      pageOrigin: 'https://site.example',
    }).then(
      (got) => (got as { blob: Blob }).blob.text(),
      (error: Error) => error.message,
    );
    await clock.advance(60_000);
    return [await downloading, asked];
  };
  expect(await download('basic')).toEqual([
    expect.stringContaining('7 of 10 bytes have arrived. (after 4 retries)'),
    5,
  ]);
  expect(await download('cors')).toEqual(['seven b', 1]);
});

test('a weak ETag does not name the bytes', () => {
  expect(strongEtag({ etag: '"a"' })).toBe('"a"');
  expect(strongEtag({ etag: 'W/"a"' })).toBeUndefined();
  expect(versionOf(response('basic', { etag: 'W/"a"', 'content-length': '10' })).resumable).toBe(false);
  expect(versionOf(response('basic', { etag: '"a"', 'content-length': '10' })).resumable).toBe(true);
});

test('a rest continues a file: its own bytes from the offset to the end, of the same version', () => {
  const version = versionOf(response('basic', { etag: '"a"', 'content-length': '10' }));
  const rest = (headers: Record<string, string>): Response =>
    response('basic', { etag: '"a"', ...headers }, { status: 206 });
  expect(continues(rest({ 'content-range': 'bytes 4-9/10' }), version, 4)).toBe(true);
  expect(continues(rest({ 'content-range': 'bytes 4-9/*' }), version, 4)).toBe(true);
  for (const range of [
    'bytes 3-9/10',
    'bytes 5-9/10',
    'bytes 4-8/10',
    'bytes 4-9/11',
    'bytes 4-10/11',
    'bytes */10',
    '',
  ])
    expect(continues(rest({ 'content-range': range }), version, 4), range).toBe(false);
  expect(continues(rest({ etag: '"b"', 'content-range': 'bytes 4-9/10' }), version, 4)).toBe(false);
  // Another origin hides the range: the length must be that of the rest.
  for (const [length, is] of [
    ['6', true],
    ['5', false],
    ['7', false],
  ] as const)
    expect(continues(rest({ 'content-length': length }), version, 4), length).toBe(is);
});

test('one byte more than is expected ends the download', async () => {
  const download = (bytes: number): Promise<unknown> =>
    downloadFile(new URL('https://site.example/model.onnx'), {
      fetch: async () => response('basic', {}, { body: 'seven b' }),
      clock: new FakeClock(),
      random: () => 0,
      expected: { bytes },
    });
  await expect(download(7)).resolves.toMatchObject({ blob: { size: 7 } });
  await expect(download(6)).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('has more than the expected 6 bytes'),
  });
});
