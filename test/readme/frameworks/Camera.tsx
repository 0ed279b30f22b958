import { useRef } from 'react';
import { useFrames, useModel } from 'tabserve/react';

export function Camera() {
  const detector = useModel({ model: '/models/nanodet/', handler: 'object_detector', loading: 'lazy' });
  const frames = useFrames(detector);
  const picture = useRef<HTMLCanvasElement>(null);
  const camera = useRef<MediaStream>(undefined);

  async function start() {
    camera.current = await navigator.mediaDevices.getUserMedia({ video: true });
    frames.start(camera.current, {
      // The frame that the boxes are of: it is closed when this function returns.
      onFrame: ({ frame }) => frame && picture.current?.getContext('2d')?.drawImage(frame, 0, 0, 320, 240),
    });
  }

  function stop() {
    frames.stop();
    camera.current?.getTracks().forEach((track) => track.stop());
  }

  return (
    <section>
      <button onClick={frames.status === 'running' ? stop : start}>{frames.status}</button>
      <canvas ref={picture} width={320} height={240} />
      <output>{frames.result && `${frames.result.length} objects`}</output>
      {frames.error && <p role="alert">{frames.error.message}</p>}
    </section>
  );
}
