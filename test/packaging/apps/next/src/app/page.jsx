'use client';

import { connect, load } from 'tabserve';
import { useEffect } from 'react';
import { start } from '../start.js';

const makeWorker = () => new Worker(new URL('../odd-or-even.worker.js', import.meta.url), { type: 'module' });

export default function Page() {
  useEffect(() => start({ connect, load, makeWorker }), []);
  return (
    <>
      <label>
        A digit <input type="file" id="digit" accept="image/*" disabled />
      </label>
      <label>
        A scene <input type="file" id="scene" accept="image/*" disabled />
      </label>
      <pre />
    </>
  );
}
