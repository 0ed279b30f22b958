/** What reading a photo exactly takes at least: the browser's decoder, and one copy of the pixels as it has them. */
const scope = globalThis as unknown as Worker;
let pixels = new Uint8Array(0);

scope.onmessage = async ({ data: file }: MessageEvent<File>) => {
  const data = await file.arrayBuffer();
  const decoder = new ImageDecoder({ data, type: file.type, colorSpaceConversion: 'none', transfer: [data] });
  const { image } = await decoder.decode({ completeFramesOnly: true });
  if (pixels.length < image.allocationSize()) pixels = new Uint8Array(image.allocationSize());
  await image.copyTo(pixels);
  image.close();
  decoder.close();
  scope.postMessage('decoded');
};
