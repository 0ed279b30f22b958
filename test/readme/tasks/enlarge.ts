import { load, paintPicture } from 'tabserve';

const upscaler = await load('/models/upscaler/', { handler: 'image_to_image' });
const photo = document.querySelector('img')!;
const image = paintPicture(await upscaler.predict(photo));
const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
canvas.getContext('2d')!.putImageData(image, 0, 0);
document.body.append(canvas);
console.log(image.width / photo.naturalWidth, 'times as wide');
