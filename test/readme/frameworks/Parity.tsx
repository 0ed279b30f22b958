import { useState } from 'react';
import { useModel } from 'tabserve/react';
import type { EvenOrOdd } from '../even.worker.js';

const makeWorker = () => new Worker(new URL('../even.worker.ts', import.meta.url), { type: 'module' });

export function Parity() {
  const model = useModel<EvenOrOdd>(makeWorker, { model: '/models/digits/', loading: 'lazy' });
  const [parity, setParity] = useState<'even' | 'odd'>();

  return (
    <label>
      {parity ?? model.status}
      <input type="file" onChange={async ({ target }) => setParity(await model.predict(target.files![0]!))} />
    </label>
  );
}
