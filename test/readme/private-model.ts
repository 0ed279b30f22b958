import { load } from 'tabserve';

const classifier = await load('https://models.example.org/digits/', {
  handler: 'image_classifier',
  request: { headers: { Authorization: 'Bearer secret' }, credentials: 'omit' },
  allowedOrigins: ['https://cdn.example.org'],
  integrity: {
    'digits.onnx': 'eb8434cab4343bf7903d2b33ded73ff3c89d32d8b7e33137618c01abba185981',
    'model-config.yaml': { bytes: 176 },
  },
  onProgress: ({ phase, overall: { fraction } }) => console.debug(phase, fraction),
});
console.log((await classifier.describe()).modelName); // digits
await classifier.dispose();
