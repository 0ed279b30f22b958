import type { Page } from '@playwright/test';

/** Makes a recording what the page's microphone hears: the track ends with it. */
export async function speakIntoMicrophone(page: Page): Promise<void> {
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = async () => {
      const context = new AudioContext();
      const file = await fetch('/models/vad/samples/platform.wav');
      const buffer = await context.decodeAudioData(await file.arrayBuffer());
      const source = new AudioBufferSourceNode(context, { buffer });
      const destination = new MediaStreamAudioDestinationNode(context);
      source.connect(destination);
      source.start();
      source.onended = () => destination.stream.getTracks().forEach((track) => track.stop());
      return destination.stream;
    };
  });
}
