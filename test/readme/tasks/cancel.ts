import { load } from 'tabserve';

const writer = await load('https://huggingface.co/onnx-community/whisper-tiny', { handler: 'speech_to_text' });
const input = document.querySelector('input')!;
const text = document.querySelector('p')!;

input.addEventListener('change', async () => {
  const stop = new AbortController();
  document.querySelector('button')!.onclick = () => stop.abort();
  try {
    for await (const part of writer.stream(input.files![0]!, { signal: stop.signal }))
      if (typeof part === 'string') text.append(part);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    console.log('stopped'); // the text so far stays
  }
});
