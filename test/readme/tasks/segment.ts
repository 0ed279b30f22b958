import { load, paintInstances } from 'tabserve';

const segmenter = await load('https://huggingface.co/Xenova/detr-resnet-50-panoptic', {
  handler: 'instance_segmenter',
});
const instances = await segmenter.predict(document.querySelector('img')!);
for (const { label, score } of instances) console.log(label, score);

// An empty list, if nothing was found.
if (instances.length > 0) {
  const image = paintInstances(instances);
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  canvas.getContext('2d')!.putImageData(image, 0, 0);
  document.body.append(canvas);
}
