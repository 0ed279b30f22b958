import { useState } from 'react';
import type { Classification } from 'tabserve';
import { useModel } from 'tabserve/react';

export function Digit() {
  const model = useModel({ model: '/models/digits/', handler: 'image_classifier' });
  const [answer, setAnswer] = useState<Classification>();
  const [failure, setFailure] = useState<string>();

  async function classify(photo: File | undefined) {
    if (!photo) return; // the visitor has closed the dialog
    try {
      setAnswer(await model.predict(photo, { params: { topK: 1 } }));
      setFailure(undefined);
    } catch (error) {
      setFailure((error as Error).message);
    }
  }

  if (model.status === 'error') return <p role="alert">{model.error.message}</p>;
  return (
    <label>
      {model.status === 'ready' ? `Ready, on ${model.backend.name}` : 'Loading'}
      <progress value={model.progress?.overall.fraction} hidden={model.status === 'ready'} />
      <input type="file" accept="image/*" onChange={({ target }) => classify(target.files?.[0])} />
      <output>{failure ?? answer?.[0]?.label}</output>
    </label>
  );
}
