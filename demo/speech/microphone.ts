import { audioChunks, type AudioChunk } from '../../src/index.js';
import { DeviceError, openDevice } from '../inputs/device.js';

export interface Microphone {
  readonly running: boolean;
  /**
   * Asks for the microphone, and resolves once it is on.
   * @throws `DeviceError`; `AbortError` if it was stopped before
   */
  start(): Promise<void>;
  stop(): void;
}

export interface MicrophoneEvents {
  /** Is called with what was recorded since the call before. */
  heard(chunk: AudioChunk): void;
  /** Is called when the microphone stopped by itself: the tab was hidden, or the microphone unplugged. */
  stopped(error: DeviceError): void;
}

const MICROPHONE = {
  name: 'microphone',
  gives: 'sound',
  instead: 'Choose a sample, or drop an audio file.',
} as const;

/** Records until it is stopped or the tab is hidden. */
export function microphone({ heard, stopped }: MicrophoneEvents): Microphone {
  let stream: MediaStream | undefined;
  let recording = new AbortController();

  const stop = (): void => {
    recording.abort();
    document.removeEventListener('visibilitychange', hidden);
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = undefined;
  };
  const end = (name: string, message: string): void => {
    stop();
    stopped(new DeviceError(name, message));
  };
  const hidden = (): void => {
    if (document.hidden)
      end('hidden', 'The microphone was stopped because this tab was hidden. Start it again to continue.');
  };
  const record = async (track: MediaStreamTrack, signal: AbortSignal): Promise<void> => {
    try {
      for await (const chunk of audioChunks(track, { signal })) heard(chunk);
      end('ended', 'The microphone was disconnected. Connect it, then start it again.');
    } catch (error) {
      if (!signal.aborted) end('failed', `The microphone cannot be read: ${(error as Error).message}`);
    }
  };

  return {
    get running() {
      return stream !== undefined;
    },
    async start() {
      stop();
      const { signal } = (recording = new AbortController());
      const opened = await openDevice(MICROPHONE, { audio: true });
      if (signal.aborted) for (const track of opened.getTracks()) track.stop();
      signal.throwIfAborted();
      stream = opened;
      document.addEventListener('visibilitychange', hidden);
      void record(opened.getAudioTracks()[0]!, signal);
    },
    stop,
  };
}
