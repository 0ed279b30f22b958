import { DeviceError, openDevice } from './device.js';

/** Which way the camera looks, where a device has two. */
export type Facing = 'user' | 'environment';

export interface Camera {
  readonly running: boolean;
  /**
   * Asks for the camera, and resolves once the video plays.
   * @throws `DeviceError`; `AbortError` if it was stopped before
   */
  start(): Promise<void>;
  stop(): void;
}

export interface CameraEvents {
  /** Is called when the camera stopped by itself: the tab was hidden, or the camera unplugged. */
  stopped(error: DeviceError): void;
}

const CAMERA = {
  name: 'camera',
  gives: 'picture',
  instead: 'Choose a sample, or drop or paste an image.',
} as const;

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
    stopped(new DeviceError(name, message));
  };
  const hidden = (): void => {
    if (document.hidden)
      end('hidden', 'The camera was stopped because this tab was hidden. Start it again to continue.');
  };

  return {
    get running() {
      return running;
    },
    async start() {
      stop();
      const { signal } = (starting = new AbortController());
      const opened = await openDevice(CAMERA, {
        video: { facingMode: facing, width: { ideal: 1280 }, height: { ideal: 720 } },
      });
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
