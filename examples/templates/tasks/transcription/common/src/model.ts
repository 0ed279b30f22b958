import { backends } from './backends.ts';

/** What `connect` takes. `model` is the address of a repository, or of a folder of this app, such as /models/whisper/. */
export const options = {
  model: 'https://huggingface.co/onnx-community/whisper-tiny.en',
  handler: 'speech_to_text',
  config: { engine: { dtype: 'q8' } },
  ...backends,
} as const;

/** Returns a recording to begin with: a program speaks. */
export async function readSample(): Promise<Blob> {
  return await (await fetch('/samples/platform.wav')).blob();
}

/** Records the microphone until `stop` aborts. The browser asks the visitor first. */
export async function record(stop: AbortSignal): Promise<Blob> {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(microphone);
  const pieces: Blob[] = [];
  recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve));
  recorder.start();
  stop.addEventListener('abort', () => recorder.stop());
  if (stop.aborted) recorder.stop();
  await stopped;
  for (const track of microphone.getTracks()) track.stop();
  return new Blob(pieces, { type: recorder.mimeType });
}

/** Returns a time as in 1:05. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
