import { useEffect, useRef, useState } from 'react';
import type { Detections } from 'tabserve';
import { useFrames, useModel } from 'tabserve/react';
import { draw } from './draw.ts';
import { options } from './model.ts';

export function App() {
  const model = useModel(options);
  // A slow device skips frames, and does not fall behind.
  const frames = useFrames(model);
  const [found, setFound] = useState<Detections>();
  const [failure, setFailure] = useState<Error>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const camera = useRef<MediaStream>(null);
  const isRunning = frames.status === 'running';

  // The camera's light goes out.
  const release = () => camera.current?.getTracks().forEach((track) => track.stop());
  useEffect(() => release, []);

  function show(picture: CanvasImageSource, width: number, height: number, objects: Detections) {
    // The canvas takes the picture's shape; the boxes are in pixels of the picture.
    Object.assign(canvas.current!, { width, height });
    draw(canvas.current!, picture, objects);
    setFound(objects);
  }

  function stop() {
    frames.stop();
    release();
  }

  async function start() {
    setFailure(undefined);
    try {
      camera.current = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
      frames.start(camera.current, {
        onFrame: ({ result, frame }) => frame && show(frame, frame.displayWidth, frame.displayHeight, result),
      });
    } catch (error) {
      setFailure(error as Error);
    }
  }

  async function detect(photo: Blob | undefined) {
    if (!photo) return;
    stop();
    setFailure(undefined);
    try {
      const [picture, objects] = await Promise.all([createImageBitmap(photo), model.predict(photo)]);
      show(picture, picture.width, picture.height, objects);
    } catch (error) {
      setFailure(error as Error);
    }
  }

  const error = failure ?? frames.error ?? model.error;
  return (
    <main>
      <header>
        <h1>Camera detection</h1>
        <p className="lead">Finds 80 kinds of objects before the camera. The pictures never leave this device.</p>
      </header>
      <section className="card">
        <canvas ref={canvas} aria-label="What the camera sees" width={640} height={480} />
        <div className="row">
          <button className="camera" onClick={isRunning ? stop : start}>
            {isRunning ? 'Stop the camera' : 'Start the camera'}
          </button>
          <label className="button plain">
            Choose a photo
            <input type="file" accept="image/*" onChange={({ target }) => detect(target.files?.[0])} />
          </label>
        </div>
        <p className="found status">
          {found && (found.map(({ label }) => label).join(', ') || 'Nothing that this model knows.')}
        </p>
      </section>
      {model.status === 'loading' && <progress value={model.progress?.overall.fraction ?? 0} />}
      <p className={error ? 'status error' : 'status'} role="status">
        {error?.message ?? (model.backend ? `Ready, on ${model.backend.name}.` : 'Loading the model …')}
      </p>
    </main>
  );
}
