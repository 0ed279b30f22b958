import { useState } from 'react';
import { useModel } from 'tabserve/react';
import type { DigitReader } from './digit-reader.worker.ts';
import { asJson, makeWorker, options, readSample, SAMPLES } from './model.ts';

export function App() {
  const model = useModel<DigitReader>(makeWorker, options);
  const [photos, setPhotos] = useState<readonly string[]>([]);
  const [answer, setAnswer] = useState<string>();
  const [failure, setFailure] = useState<Error>();
  const { client } = model;

  /** Answers a batch as TorchServe's handlers do: a list in, a list out. */
  async function handle(files: readonly Blob[]) {
    if (!client || files.length === 0) return;
    photos.forEach((url) => URL.revokeObjectURL(url));
    setPhotos(files.map((file) => URL.createObjectURL(file)));
    setAnswer(undefined);
    setFailure(undefined);
    try {
      setAnswer(asJson(await client.handle(files)));
    } catch (error) {
      setFailure(error as Error);
    }
  }

  const error = failure ?? model.error;
  return (
    <main>
      <header>
        <h1>Ported handler</h1>
        <p className="lead">
          A handler of TorchServe, in a worker of this page. Choose pictures of digits: several are one batch.
        </p>
      </header>
      <section className="card">
        <div className="row">
          <label className="button">
            Choose photos
            <input
              type="file"
              accept="image/*"
              multiple
              disabled={!client}
              onChange={({ target }) => handle([...(target.files ?? [])])}
            />
          </label>
          <div className="row samples">
            {SAMPLES.map((url) => (
              <button
                key={url}
                className="plain sample"
                disabled={!client}
                onClick={async () => handle([await readSample(url)])}
              >
                <img src={url} width={40} height={40} alt="A sample" />
              </button>
            ))}
          </div>
        </div>
        <div className="row photos">
          {photos.map((url) => (
            <img key={url} src={url} width={72} height={72} alt="A chosen photo" />
          ))}
        </div>
        {answer && <pre>{answer}</pre>}
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
