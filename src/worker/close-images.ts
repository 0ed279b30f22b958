type Image = ImageBitmap | VideoFrame;

/**
 * Closes the bitmaps and frames in a batch's rows, after its answer has been sent: a handler may have put one into it. The worker owns them, and unclosed
 * frames would starve the browser's decoder.
 */
export function closeImages(rows: readonly unknown[]): void {
  const images = new Set<Image>();
  collectImages(rows, images, new Set());
  // Most requests have none, and need no timer.
  if (images.size > 0) setTimeout(() => images.forEach((image) => image.close()));
}

function collectImages(value: unknown, images: Set<Image>, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (isImage(value)) images.add(value);
  else if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
    for (const inner of Object.values(value)) collectImages(inner, images, seen);
}

/** Not every browser has both classes. */
function isImage(value: unknown): value is Image {
  return (
    (typeof ImageBitmap !== 'undefined' && value instanceof ImageBitmap) ||
    (typeof VideoFrame !== 'undefined' && value instanceof VideoFrame)
  );
}
