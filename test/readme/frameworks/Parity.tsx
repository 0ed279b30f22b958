import { useState } from 'react';
import { useModel } from 'tabserve/react';
import type { EvenOrOdd } from '../even.worker.js';

const makeWorker = () => new Worker(new URL('../even.worker.ts', import.meta.url), { type: 'module' });

export function Parity() {
  const model = useModel<EvenOrOdd>(makeWorker, { model: '/models/digits/', loading: 'lazy' });
  const [parity, setParity] = useState<string>();

  async function classify(photo: File | undefined) {
    if (photo) setParity(await model.predict(photo).catch((error: Error) => error.message));
  }

  return (
    <label>
      {parity ?? model.status}
      <input type="file" onChange={({ target }) => classify(target.files?.[0])} />
    </label>
  );
}
