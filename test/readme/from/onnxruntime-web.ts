import { load } from 'tabserve';

const classifier = await load('/models/digits/digits.onnx', {
  handler: 'image_classifier',
  config: {
    handler: {
      imageProcessing: [
        'grayscale',
        { resize: [28, 28] },
        'toTensor',
        { normalize: { mean: [0.1307], std: [0.3081] } },
      ],
    },
  },
});
const [best] = await classifier.predict(document.querySelector('img')!);
console.log(best?.label, best?.score);
