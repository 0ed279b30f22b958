import { useRef, useState } from 'react';
import { useModel, useStream } from 'tabserve/react';
import { clock, options, readSample, record } from './model.ts';

export function App() {
  const model = useModel(options);
  // The words as they come, and at last each part with its time. A newer recording takes the place of an older one.
  const words = useStream(model);
  const [sound, setSound] = useState<string>();
  const [recording, setRecording] = useState<AbortController>();
  const [failure, setFailure] = useState<Error>();
  const player = useRef<HTMLAudioElement>(null);

  function transcribe(recorded: Blob | undefined) {
    if (!recorded) return;
    if (sound) URL.revokeObjectURL(sound);
    setSound(URL.createObjectURL(recorded));
    setFailure(undefined);
    words.start(recorded, { params: { timestamps: 'segment' } });
  }

  async function toggle() {
    if (recording) return recording.abort();
    const stop = new AbortController();
    setRecording(stop);
    try {
      transcribe(await record(stop.signal));
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setRecording(undefined);
    }
  }

  function play(from: number) {
    player.current!.currentTime = from;
    player.current!.play();
  }

  const answer = words.items.at(-1);
  const parts = typeof answer === 'object' ? (answer.parts ?? []) : [];
  const error = failure ?? words.error ?? model.error;
  return (
    <main>
      <header>
        <h1>Transcription</h1>
        <p className="lead">
          Writes down what is said. The recording never leaves this device; the model is 40 MB once.
        </p>
      </header>
      <section className="card">
        <div className="row">
          <button className="record" onClick={toggle}>
            {recording ? 'Stop' : 'Record'}
          </button>
          <label className="button plain">
            Choose a file
            <input type="file" accept="audio/*" onChange={({ target }) => transcribe(target.files?.[0])} />
          </label>
          <button className="plain" onClick={async () => transcribe(await readSample())}>
            Sample
          </button>
        </div>
        {sound && <audio ref={player} controls src={sound} />}
        {words.status === 'running' && <p className="text">{words.text || '…'}</p>}
        <ol className="parts">
          {parts.map(({ start, text }, index) => (
            <li key={index}>
              <button className="plain time" onClick={() => play(start)}>
                {clock(start)}
              </button>{' '}
              {text.trim()}
            </li>
          ))}
          {words.status === 'done' && parts.length === 0 && <li>Nothing was said.</li>}
        </ol>
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
