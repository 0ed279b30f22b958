import { eachFrame } from './frames.js';

/** Which way the camera looks, where a device has two. */
export type Facing = 'user' | 'environment';

export interface Camera {
  readonly running: boolean;
  /** Asks for the camera, and resolves once it shows something. @throws `CameraError`; `AbortError` if it was stopped meanwhile */
  start(): Promise<void>;
  stop(): void;
}

export interface CameraEvents {
  /** The video shows another frame. */
  frame(): void;
  /** It stopped by itself: the tab was hidden, the camera unplugged. */
  stopped(error: CameraError): void;
}

/** Why there is no picture, in words; the name is the browser's. */
export class CameraError extends Error {
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: 'This page may not use the camera. Allow it in the browser’s address bar, then start again.',
  NotFoundError: 'There is no camera here. Samples, files and pasted images work without one.',
  NotReadableError: 'The camera is there but gives no picture. Does another program use it?',
};

/** Shows the camera in `video`, until it is stopped or the tab is hidden. */
export function camera(video: HTMLVideoElement, facing: Facing, { frame, stopped }: CameraEvents): Camera {
  let stream: MediaStream | undefined;
  let running = false;
  let starting = new AbortController();

  const stop = (): void => {
    starting.abort();
    document.removeEventListener('visibilitychange', hidden);
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = undefined;
    running = false;
    video.srcObject = null;
  };
  const end = (name: string, message: string): void => {
    stop();
    stopped(new CameraError(name, message));
  };
  const hidden = (): void => {
    if (document.hidden) end('hidden', 'The camera was stopped, since nobody saw this page.');
  };

  return {
    get running() {
      return running;
    },
    async start() {
      stop();
      const { signal } = (starting = new AbortController());
      const opened = await open(facing);
      if (signal.aborted) for (const track of opened.getTracks()) track.stop();
      signal.throwIfAborted();
      stream = opened;
      document.addEventListener('visibilitychange', hidden);
      for (const track of opened.getTracks())
        track.addEventListener('ended', () => stream === opened && end('ended', 'The camera is gone.'));
      video.srcObject = opened;
      await video.play();
      signal.throwIfAborted();
      running = true;
      eachFrame(video, opened, frame);
    },
    stop,
  };
}

async function open(facing: Facing): Promise<MediaStream> {
  if (!('mediaDevices' in navigator))
    throw new CameraError('insecure', 'A browser gives the camera to pages on https or localhost only.');
  try {
    return await navigator.mediaDevices.getUserMedia({
      video: { facingMode: facing, width: { ideal: 1280 }, height: { ideal: 720 } },
    });
  } catch (cause) {
    const { name, message } = cause as DOMException;
    throw new CameraError(name, REASONS[name] ?? message, { cause });
  }
}
