import { load, type Params, type Sequence, type VoiceActivity, type VoiceActivityDetector } from '../../src/index.js';
import type { Demo, LiveSound, LoadOptions, Model, Run } from '../demo.js';
import { soundStage } from '../inputs/sound-stage.js';
import { speech } from '../outputs/speech.js';
import { comment, input, loading, options } from './code.js';

const SAMPLES = 'models/vad/samples';

export const voice: Demo = {
  id: 'voice',
  title: 'Voice',
  summary: 'Detects speech in a recording, or live from the microphone.',
  layout: 'wide',
  models: [
    {
      url: 'models/vad/',
      short: 'Silero VAD',
      name: 'Silero VAD 5',
      license: 'MIT',
      bytes: 2_327_524,
      engines: ['onnx'],
    },
  ],
  samples: [
    { url: `${SAMPLES}/platform.wav`, shows: 'Announcements' },
    { url: `${SAMPLES}/fan.wav`, shows: 'Two voices and a fan' },
  ],
  takesFiles: true,
  accepts: 'audio/*',
  hint: 'You can also drop an audio file anywhere on the page. What is recorded stays on this device.',
  snippet: (run) => `import { ${run.source.kind === 'microphone' ? 'audioChunks, ' : ''}load } from 'tabserve';

${loading('vad', 'voice_activity_detector', run)}
${run.source.kind === 'microphone' ? live(run) : recording(run)}
await vad.dispose();
`,
  load: ({ url }, given) => detector(url, given),
  mount(events) {
    const stage = soundStage(events);
    return { input: stage, output: speech(stage, events.changed) };
  },
};

/**
 * A client whose `predict` takes recordings, and the microphone's pieces: each session of the microphone is a sequence.
 */
async function detector(url: string, given: LoadOptions): Promise<Model> {
  // Native WebGPU computes this model wrongly: its engine is not downloaded, unless the visitor asks for it.
  const client = await load(url, { handler: 'voice_activity_detector', backends: ['wasm'], ...given });
  let live: { readonly session: number; readonly sequence: Sequence<VoiceActivityDetector> } | undefined;
  return {
    get backend() {
      return client.backend;
    },
    on: (event, listener) => client.on(event, listener),
    dispose: () => client.dispose(),
    async predict(sound: Blob | LiveSound, { params }: { readonly params: Params }) {
      if (sound instanceof Blob) return await client.predict(sound, { params });
      const { session, samples, sampleRate } = sound;
      if (live?.session !== session) {
        await live?.sequence.end();
        live = { session, sequence: client.openSequence() };
      }
      return await live.sequence.predict({ samples, sampleRate }, { params });
    },
  };
}

function recording(run: Run): string {
  const result = run.result as Partial<VoiceActivity> | undefined;
  return `${input('recording', run.source)}
const { segments } = await vad.predict(recording${options(run)});
${comment(result?.segments, 2)}console.log(segments, vad.backend);`;
}

function live(run: Run): string {
  return `const [track] = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks();
const sequence = vad.openSequence();

// It ends when the track does.
for await (const chunk of audioChunks(track)) {
  const { events } = await sequence.predict(chunk${options(run)});
  for (const { type, time } of events) console.log(type, time);
}`;
}
