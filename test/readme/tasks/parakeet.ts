import { load } from 'tabserve';

const parakeet = await load('https://huggingface.co/istupakov/parakeet-tdt-0.6b-v2-onnx', {
  handler: 'speech_recognizer',
  config: { engine: { dtype: 'int8' } },
});

const input = document.querySelector('input')!;
input.addEventListener('change', async () => {
  const { text, parts = [] } = await parakeet.predict(input.files![0]!, { params: { timestamps: 'word' } });
  for (const { start, end, text } of parts) console.log(start, end, text);
  console.log(text);
});
