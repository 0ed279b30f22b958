import { load, paintMask } from 'tabserve';

const segmenter = await load('/models/selfie/', { handler: 'image_segmenter' });
const photo = document.querySelector('img')!;
const mask = paintMask(await segmenter.predict(photo)); // of the photo's size, opaque where the person is
const canvas = Object.assign(document.createElement('canvas'), { width: mask.width, height: mask.height });
const drawing = canvas.getContext('2d')!;
drawing.drawImage(photo, 0, 0);
drawing.globalCompositeOperation = 'destination-in';
drawing.drawImage(await createImageBitmap(mask), 0, 0);
photo.replaceWith(canvas); // the person alone
