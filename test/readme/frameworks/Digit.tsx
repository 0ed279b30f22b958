import { useState } from 'react';
import type { Classification } from 'tabserve';
import { useModel } from 'tabserve/react';

export function Digit() {
  const model = useModel({ model: '/models/digits/', handler: 'image_classifier' });
  const [answer, setAnswer] = useState<Classification>();

  if (model.status === 'error') return <p role="alert">{model.error.message}</p>;
  return (
    <label>
      {model.status === 'ready' ? `Ready, on ${model.backend.name}` : 'Loading'}
      <progress value={model.progress?.overall.fraction} hidden={model.status === 'ready'} />
      <input
        type="file"
        accept="image/*"
        onChange={async ({ target }) => setAnswer(await model.predict(target.files![0]!, { params: { topK: 1 } }))}
      />
      <output>{answer?.[0]?.label}</output>
    </label>
  );
}
