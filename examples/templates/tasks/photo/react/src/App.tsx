import { useState } from 'react';
import type { Classification } from 'tabserve';
import { useModel } from 'tabserve/react';
import { options, percent, readSample, SAMPLES } from './model.ts';

export function App() {
  const model = useModel(options);
  const [photo, setPhoto] = useState<string>();
  const [answer, setAnswer] = useState<Classification>();
  const [failure, setFailure] = useState<Error>();

  async function classify(file: Blob | undefined) {
    if (!file) return;
    if (photo) URL.revokeObjectURL(photo);
    setPhoto(URL.createObjectURL(file));
    setAnswer(undefined);
    setFailure(undefined);
    try {
      setAnswer(await model.predict(file, { params: { topK: 3 } }));
    } catch (error) {
      setFailure(error as Error);
    }
  }

  const error = failure ?? model.error;
  return (
    <main>
      <header>
        <h1>Photo classifier</h1>
        <p className="lead">Choose a picture of a digit. It is read on this device, and is sent nowhere.</p>
      </header>
      <section className="card">
        <div className="row">
          <label className="button">
            Choose a photo
            <input type="file" accept="image/*" onChange={({ target }) => classify(target.files?.[0])} />
          </label>
          {SAMPLES.map((url) => (
            <button key={url} className="plain sample" onClick={async () => classify(await readSample(url))}>
              <img src={url} width={40} height={40} alt="A sample" />
            </button>
          ))}
        </div>
        {photo && <img className="photo" src={photo} alt="The chosen photo" />}
        <ol>
          {answer?.map(({ label, score }) => (
            <li key={label} className="score">
              <span>{label}</span>
              <span>{percent(score)}</span>
              <meter value={score} />
            </li>
          ))}
        </ol>
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
