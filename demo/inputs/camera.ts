import { Explained } from '../page/explained.js';

/** Which way the camera looks, where a device has two. */
export type Facing = 'user' | 'environment';

export interface Camera {
  readonly running: boolean;
  /** Asks for the camera, and resolves once the video plays. @throws `CameraError`; `AbortError` if it was stopped before */
  start(): Promise<void>;
  stop(): void;
}

export interface CameraEvents {
  /** Is called when the camera stopped by itself: the tab was hidden, or the camera unplugged. */
  stopped(error: CameraError): void;
}

/** Says why there is no picture; the name is that of the browser's error. */
export class CameraError extends Explained {
  override readonly name: string;

  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = name;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError:
    'This page may not use the camera. Allow it in the browser’s address bar, then start the camera again.',
  NotFoundError: 'No camera was found. Choose a sample, or drop or paste an image.',
  NotReadableError:
    'The camera gives no picture. Another program may be using it: close that, then start the camera again.',
};

/** Shows the camera in `video`, until it is stopped or the tab is hidden. */
export function camera(video: HTMLVideoElement, facing: Facing, { stopped }: CameraEvents): Camera {
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
    if (document.hidden) end('hidden', 'The camera was stopped because this tab was hidden. Start it again to go on.');
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
        track.addEventListener(
          'ended',
          () => stream === opened && end('ended', 'The camera was disconnected. Connect it, then start it again.'),
        );
      video.srcObject = opened;
      await video.play();
      signal.throwIfAborted();
      running = true;
    },
    stop,
  };
}

async function open(facing: Facing): Promise<MediaStream> {
  if (!('mediaDevices' in navigator))
    throw new CameraError(
      'insecure',
      'The browser allows the camera on https and localhost only. Open this page there.',
    );
  try {
    return await navigator.mediaDevices.getUserMedia({
      video: { facingMode: facing, width: { ideal: 1280 }, height: { ideal: 720 } },
    });
  } catch (cause) {
    const { name, message } = cause as DOMException;
    throw new CameraError(name, REASONS[name] ?? `The camera could not be started: ${message}`, { cause });
  }
}
