// `client.frames` over what a browser has: canvases that are captured, videos and tracks. Its rules are in
// `unit/frames.spec.ts`.
import { expect, test } from './fixtures.ts';

test('the frames of a track, a MediaStream and a video, until the track ends @once', async ({
  open,
  backend,
  browserName,
}) => {
  const page = await open();
  const seen = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] });
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 });
    document.body.append(canvas);
    const context = canvas.getContext('2d')!;
    let drawn = 0;
    const timer = setInterval(() => {
      context.fillStyle = (drawn += 1) % 2 ? '#fff' : '#000';
      context.fillRect(0, 0, 64, 64);
    }, 20);
    const read = async (source: Parameters<typeof client.frames>[0], count: number, fps?: number) => {
      const items = [];
      for await (const { result, frame, ...item } of client.frames(source, fps ? { fps } : {})) {
        items.push({ ...item, labels: result.length, ofFrame: frame!.timestamp });
        if (items.length === count) break;
      }
      return items;
    };
    const stream = canvas.captureStream();
    const [track] = stream.getVideoTracks();
    const video = Object.assign(document.createElement('video'), { srcObject: stream, muted: true });
    const playing = video.play();
    const items = {
      track: await read(track!, 5),
      stream: await read(stream, 5),
      video: await read(video, 5),
      slow: await read(track!, 4, 10),
    };
    await playing;
    // A <video> that gets another source goes on, although it is paused for a while; one that loses its source ends.
    const other = Object.assign(document.createElement('video'), { srcObject: stream.clone(), muted: true });
    await other.play();
    let second: MediaStream | undefined;
    setTimeout(() => (other.srcObject = second = stream.clone()), 100);
    setTimeout(() => void other.play(), 400);
    let ofSecond = 0;
    for await (const _ of client.frames(other))
      if (second && !other.paused && (ofSecond += 1) === 3) (other as HTMLVideoElement).srcObject = null;
    // The end of the track ends its frames, and those of a <video> that shows it.
    setTimeout(() => track!.stop(), 100);
    const [atEnd, videoAtEnd] = await Promise.all([read(track!, Infinity), read(video, Infinity)]);
    // Nothing is sent to a track of a connection that has no other side yet.
    const connection = new RTCPeerConnection();
    const muted = connection.addTransceiver('video').receiver.track;
    const refused = await Promise.all(
      [track!, new MediaStream(), document.createElement('video'), muted].map((source) =>
        window.failure(read(source, 1)),
      ),
    );
    connection.close();
    clearInterval(timer);
    await client.dispose();
    const times = videoAtEnd.map(({ timestamp }) => timestamp);
    return {
      items,
      atEnd: atEnd.length,
      ofSecond,
      times,
      refused: refused.map(({ code, message }) => `${code}: ${message}`),
    };
  }, backend);
  for (const [name, items] of Object.entries(seen.items)) {
    const times = items.map(({ timestamp }) => timestamp);
    expect(times, name).toEqual([...new Set(times)].toSorted((a, b) => a - b));
    expect(items.every(({ labels, dropped }) => labels === 5 && dropped >= 0)).toBe(true);
    // Firefox's VideoFrame of a video does not have the frame's time.
    if (browserName === 'chromium') expect(times, name).toEqual(items.map(({ ofFrame }) => ofFrame));
  }
  expect(Object.values(seen.items).map((items) => items.length)).toEqual([5, 5, 5, 4]);
  // Ten frames a second: three intervals of 100 ms, by the frames' own times. Their answers may be late.
  expect(seen.items.slow.at(-1)!.timestamp - seen.items.slow[0]!.timestamp).toBeGreaterThan(250_000);
  expect(seen.atEnd).toBeGreaterThan(0);
  expect(seen.ofSecond).toBeGreaterThanOrEqual(3);
  expect(seen.times).toEqual([...new Set(seen.times)].toSorted((a, b) => a - b));
  expect(seen.refused).toEqual([
    expect.stringContaining('invalid-input: The track has ended'),
    expect.stringContaining('invalid-input: The MediaStream has no video track'),
    expect.stringContaining('invalid-input: The <video> has no source'),
    expect.stringContaining('invalid-input: The track is muted'),
  ]);
});

test('every frame of a stream is closed or transferred, whatever ends it; a lost worker costs one frame @once @firefox', async ({
  open,
  backend,
}) => {
  const page = await open();
  const seen = await page.evaluate(async (backend) => {
    const made: Worker[] = [];
    window.Worker = class extends Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        made.push(this);
      }
    };
    const load = () => window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] });
    const frames: VideoFrame[] = [];
    let canceled = 0;
    const source = (error?: Error): ReadableStream<VideoFrame> => {
      const canvas = new OffscreenCanvas(64, 64);
      canvas.getContext('2d')!.fillRect(0, 0, 32, 64);
      let [count, isOver] = [0, false];
      return new ReadableStream<VideoFrame>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          if (isOver) return;
          if (error && count === 5) return controller.error(error);
          frames.push(new VideoFrame(canvas, { timestamp: (count += 1) * 1000 }));
          controller.enqueue(frames.at(-1)!);
        },
        cancel() {
          isOver = true;
          canceled += 1;
        },
      });
    };
    const client = await load();
    const outcomes: Record<string, string> = {};
    let read = 0;
    for await (const _ of client.frames(source())) if ((read += 1) === 4) break;
    outcomes['break'] = `${canceled} canceled`;

    const abort = new AbortController();
    const aborted = async (): Promise<void> => {
      for await (const _ of client.frames(source(), { signal: abort.signal })) abort.abort();
    };
    outcomes['abort'] = (await window.failure(aborted())).code;
    const broken = async (): Promise<void> => {
      for await (const _ of client.frames(source(new Error('unplugged'))));
    };
    outcomes['source'] = (await window.failure(broken())).code;
    const wrong = async (): Promise<void> => {
      for await (const _ of client.frames(source(), { params: { topK: 'many' } as never }));
    };
    outcomes['row'] = (await window.failure(wrong())).code;

    // The stream outlives its worker.
    const numbers: number[] = [];
    let total = 0;
    for await (const { timestamp, dropped } of client.frames(source())) {
      numbers.push(timestamp / 1000);
      total += dropped + 1;
      if (numbers.length === 3) made.at(-1)!.terminate();
      if (numbers.length === 6) break;
    }
    outcomes['lost'] = `${made.length} workers`;
    const isCounted = total === numbers.at(-1);

    const other = await load();
    const disposed = async (): Promise<void> => {
      for await (const _ of other.frames(source())) void other.dispose();
    };
    outcomes['dispose'] = (await window.failure(disposed())).code;
    await client.dispose();
    const open = frames.filter(({ format, codedWidth }) => format !== null || codedWidth > 0).length;
    return { outcomes, isCounted, isInOrder: numbers.every((one, at) => at === 0 || one > numbers[at - 1]!), open };
  }, backend);
  expect(seen).toEqual({
    outcomes: {
      break: '1 canceled',
      abort: 'aborted',
      source: 'invalid-input',
      row: 'invalid-input',
      lost: '2 workers',
      dispose: 'disposed',
    },
    isCounted: true,
    isInOrder: true,
    open: 0,
  });
});

test('a video file: frames from its first to its end, while it plays; one of another origin is refused @once', async ({
  open,
  backend,
  browserName,
}) => {
  // A page that is isolated could not even show a video of another origin.
  const page = await open('?isolated=no');
  const video = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 64 });
    const context = canvas.getContext('2d')!;
    const timer = setInterval(() => context.fillRect(Math.random() * 64, 0, 8, 64), 20);
    const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: 'video/webm;codecs=vp8' });
    const recorded = new Promise<Blob>((resolve) => (recorder.ondataavailable = ({ data }) => resolve(data)));
    recorder.start();
    await new Promise((resolve) => setTimeout(resolve, 600));
    recorder.stop();
    clearInterval(timer);
    const bytes = new Uint8Array(await (await recorded).arrayBuffer());
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  });
  const body = Buffer.from(video, 'latin1');
  await page.route('**/recorded.webm', (route) => route.fulfill({ body, contentType: 'video/webm' }));
  const seen = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] });
    const ofFrames: number[] = [];
    const read = async (src: string, plays: boolean) => {
      const element = Object.assign(document.createElement('video'), { src, muted: true });
      if (plays) void element.play();
      const times: number[] = [];
      for await (const { timestamp, frame } of client.frames(element)) {
        times.push(timestamp);
        ofFrames.push(frame!.timestamp);
        if (!plays) break;
      }
      return times;
    };
    const played = await read('/recorded.webm', true);
    // A video that is paused shows one frame.
    const paused = await read('/recorded.webm', false);
    const refused = await window.failure(read('http://another-origin.test/recorded.webm', true));
    const missing = await window.failure(read('/no-such.webm', true));
    await client.dispose();
    return { played, paused, ofFrames, refused: `${refused.code}: ${refused.message}`, missing: missing.code };
  }, backend);
  expect(seen.played.length).toBeGreaterThan(2);
  // No frame comes twice.
  expect(seen.played).toEqual([...new Set(seen.played)].toSorted((a, b) => a - b));
  expect(seen.paused).toEqual([0]);
  // Those of Firefox's frames are whole seconds: docs/browsers.md.
  if (browserName !== 'firefox') expect([...seen.played, ...seen.paused]).toEqual(seen.ofFrames);
  expect(seen.refused).toContain('invalid-input: The pixels of the <video> cannot be read.');
  expect(seen.missing).toBe('invalid-input');
});
