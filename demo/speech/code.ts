/** The code that the page shows. */

/** A model, as the code names it. */
export interface CodeModel {
  /** What `load` takes, as code. */
  readonly model: string;
  readonly handler: string;
}

/** @param recognizer undefined for the gallery's model, which finds speech */
export function codeOf(recognizer: CodeModel | undefined, isLive: boolean): string {
  const { model, handler } = recognizer ?? {};
  const opened = model
    ? `const writer = await load(${model}, { handler: '${handler}' });`
    : `const vad = await load('/models/vad/', { handler: 'voice_activity_detector' });`;
  const client = model ? 'writer' : 'vad';
  if (!isLive)
    return `import { load } from 'tabserve';

${opened}
const recording = document.querySelector<HTMLInputElement>('input[type="file"]')!.files![0]!;
${
  model
    ? `const { parts = [] } = await writer.predict(recording, { params: { timestamps: 'word' } });
for (const { text, start, end } of parts) console.log(start, end, text);`
    : `const { segments } = await vad.predict(recording);
for (const { start, end } of segments) console.log(start, end);`
}
await ${client}.dispose();
`;
  return `import { audioChunks, load } from 'tabserve';

${opened}
const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
const sequence = ${client}.openSequence();

// It ends when the track does.
for await (const chunk of audioChunks(track!)) {
${
  model
    ? `  const { final, interim } = await sequence.predict(chunk);
  console.log(final.text, '…', interim.text);`
    : `  const { events } = await sequence.predict(chunk);
  for (const { type, time } of events) console.log(type, time);`
}
}
await sequence.end();
`;
}
