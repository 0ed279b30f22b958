import { useEffect, useState } from 'react';
import { connect, type Detections } from 'tabserve';

const makeDetector = () => connect({ model: '/models/nanodet/', handler: 'object_detector' });

/** A client for as long as the component is mounted. It starts no worker before `initialize`, so StrictMode's second effect costs nothing. */
function useDetector() {
  const [detector, setDetector] = useState<ReturnType<typeof makeDetector>>();
  useEffect(() => {
    const made = makeDetector();
    setDetector(made);
    return () => void made.dispose();
  }, []);
  return detector;
}

export function App() {
  const detector = useDetector();
  const [objects, setObjects] = useState<Detections>();
  const [error, setError] = useState<string>();

  const detect = async (photo: File | undefined) => {
    if (!photo || !detector) return;
    setObjects(undefined);
    setError(undefined);
    try {
      await detector.initialize();
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
