import { load, paintDepth } from 'tabserve';

const estimator = await load('https://huggingface.co/onnx-community/depth-anything-v2-small', {
  handler: 'depth_estimator',
});
const map = await estimator.predict(document.querySelector('img')!);
const image = paintDepth(map);
const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
canvas.getContext('2d')!.putImageData(image, 0, 0);
document.body.append(canvas);
console.log(map.width, map.height, map.min <= map.max);
