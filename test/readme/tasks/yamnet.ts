import { load } from 'tabserve';

// One line for each class: index, identifier, name, which has quotes where it has a comma.
const [, ...lines] = (await (await fetch('/models/yamnet/yamnet_class_map.csv')).text()).trim().split('\n');
const labels = lines.map((line) => line.split(',').slice(2).join(',').replaceAll('"', '').trim());

const listener = await load('/models/yamnet/yamnet.onnx', {
  handler: 'audio_classifier',
  config: { handler: { labels, output: 'probabilities', multiLabel: true, threshold: 0.3 } },
});

const input = document.querySelector('input')!;
input.addEventListener('change', async () => {
  for (const { label, score } of await listener.predict(input.files![0]!)) console.log(label, score);
});
