/** Closes the bitmaps and frames in a batch's rows. The worker owns them, and unclosed frames would starve the browser's decoder. */
export function closeImages(value: unknown, seen = new Set<unknown>()): void {
  if (isImage(value)) value.close();
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const inner of Object.values(value)) closeImages(inner, seen);
}

/** Not every browser has both classes. */
function isImage(value: unknown): value is ImageBitmap | VideoFrame {
  return (
    (typeof ImageBitmap !== 'undefined' && value instanceof ImageBitmap) ||
    (typeof VideoFrame !== 'undefined' && value instanceof VideoFrame)
  );
}
