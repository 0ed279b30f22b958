import { useState } from 'react';
import type { Detections } from 'tabserve';
import { useModel } from 'tabserve/react';

export function App() {
  // Nothing is downloaded before a photo is picked.
  const detector = useModel({ model: '/models/nanodet/', handler: 'object_detector', loading: 'lazy' });
  const [objects, setObjects] = useState<Detections>();
  const [error, setError] = useState<string>();

  const detect = async (photo: File | undefined) => {
    if (!photo) return;
    setObjects(undefined);
    setError(undefined);
    try {
      setObjects(await detector.predict(photo));
    } catch (error) {
      setError((error as Error).message);
    }
  };

  return (
    <main>
      <label>
        A photo <input type="file" accept="image/*" onChange={({ target }) => detect(target.files?.[0])} />
      </label>
      {detector.status === 'loading' && <progress value={detector.progress?.overall.fraction} />}
      {error && <p role="alert">{error}</p>}
      <ul>
        {objects?.map(({ label, score }, index) => (
          <li key={index}>
            {label}: {Math.round(score * 100)} %
          </li>
        ))}
      </ul>
    </main>
  );
}
