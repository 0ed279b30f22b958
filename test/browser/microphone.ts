import { test, type Page } from '@playwright/test';

/**
 * Makes a recording what the page's microphone hears: the track ends with it. Skips the test where no sound can be
 * played: Firefox starts no context on a machine without an audio device.
 */
export async function speakIntoMicrophone(page: Page): Promise<void> {
  const canPlay = await page.evaluate(async () => {
    const context = new AudioContext();
    await Promise.race([context.resume(), new Promise((resolve) => setTimeout(resolve, 5000))]);
    const { state } = context;
    await context.close();
    return state === 'running';
  });
  test.skip(!canPlay, 'This machine has no audio device');
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
