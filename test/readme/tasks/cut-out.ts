import { load, paintPicture } from 'tabserve';

const remover = await load('https://huggingface.co/Xenova/modnet', { handler: 'background_remover' });
const image = paintPicture(await remover.predict(document.querySelector('img')!));
const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
canvas.getContext('2d')!.putImageData(image, 0, 0);
document.body.append(canvas);
console.log(image.width, image.height);
