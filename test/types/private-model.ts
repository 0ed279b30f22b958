import { load } from 'tabserve';

const classifier = await load('https://models.example.org/digits/', {
  handler: 'image_classifier',
  request: { headers: { Authorization: 'Bearer …' }, credentials: 'omit' },
  allowedOrigins: ['https://cdn.example.org'],
  integrity: { 'digits.onnx': 'b4c1…', 'model-config.yaml': { bytes: 312 } },
  onProgress: ({ phase, overall: { fraction } }) => console.log(phase, fraction),
});
await classifier.dispose();
