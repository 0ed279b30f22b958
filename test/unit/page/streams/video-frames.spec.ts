// The frames of a `<video>`, with what Chromium 156 and Firefox 153 deliver: positions, callbacks and VideoFrames as
// they were measured in each.
import { expect, test } from '@playwright/test';
import { videoFrames } from '../../../../src/page/streams/video-frames.ts';
import { settle } from '../../support/fake-clock.ts';

class FakeFrame {
  closed = false;
  readonly codedWidth = 64;
  readonly timestamp: number;

  constructor(video: FakeVideo) {
    if (video.unreadable) throw new DOMException('Invalid source state', video.unreadable);
    this.timestamp = video.frameTimestamp;
    made.push(this);
  }

  close(): void {
    this.closed = true;
  }
}

class FakeVideo extends EventTarget {
  readonly networkState = 1;
  readonly error = null;
  srcObject: { readonly active: boolean } | null = null;
  readonly videoWidth = 64;
  readonly videoHeight = 64;
  readyState = 0;
  currentTime = 0;
  seeking = false;
  paused = false;
  playbackRate = 1;
  ended = false;
  /** The timestamp of a VideoFrame of what it shows. */
  frameTimestamp = 0;
  /** The name of the error if it has no frame that can be read. */
  unreadable = '';
  #callback: VideoFrameRequestCallback | undefined;
  declare hasAttribute: (name: string) => boolean;
  declare querySelector: (selector: string) => null;

  requestVideoFrameCallback(callback: VideoFrameRequestCallback): number {
    this.#callback = callback;
    return 1;
  }

  cancelVideoFrameCallback(): void {
    this.#callback = undefined;
  }

  /** Its first frame can be read. */
  async load(currentTime: number, frameTimestamp: number): Promise<void> {
    Object.assign(this, { currentTime, frameTimestamp, readyState: 4 });
    this.dispatchEvent(new Event('loadeddata'));
    await settle();
  }

  async shows(mediaTime: number, currentTime: number, frameTimestamp: number): Promise<void> {
    Object.assign(this, { currentTime, frameTimestamp });
    this.#callback!(0, { mediaTime } as VideoFrameCallbackMetadata);
    await settle();
  }

  /** It has arrived where it was sought to. */
  async arrive(): Promise<void> {
    this.seeking = false;
    this.dispatchEvent(new Event('seeked'));
    await settle();
  }

  async seek(currentTime: number): Promise<void> {
    Object.assign(this, { currentTime, seeking: true });
    this.dispatchEvent(new Event('seeking'));
    await settle();
  }
}

let made: FakeFrame[] = [];
const HTMLMediaElement = { NETWORK_EMPTY: 0, HAVE_CURRENT_DATA: 2 };
const classes = { VideoFrame: FakeFrame, HTMLVideoElement: FakeVideo, HTMLMediaElement };
test.beforeEach(() => {
  made = [];
  Object.assign(globalThis, classes);
});
test.afterEach(() => {
  for (const name of [...Object.keys(classes), 'createImageBitmap']) Reflect.deleteProperty(globalThis, name);
});

/** Starts reading a video. Returns the times of its frames, in microseconds, as they come. */
function read(video: FakeVideo): (number | string)[] {
  const times: (number | string)[] = [];
  videoFrames(video as never)({
    frame: ({ picture, timestamp }) => {
      times.push(timestamp);
      picture.close();
    },
    end: (error) => times.push(`${error?.code}: ${error?.message}`),
  });
  return times;
}

/**
 * What Chromium tells of a video that plays: `load`'s arguments, those of each callback, and the times that are
 * delivered.
 */
const PLAYED: readonly [
  what: string,
  loaded: readonly [number, number],
  callbacks: readonly (readonly [number, number, number])[],
  expected: readonly number[],
][] = [
  [
    'a first frame that can be read only once the video plays is delivered once',
    [0.0006, 0],
    [
      [0, 0.0044, 0],
      [0.019, 0.0214, 19_000],
      [0.079, 0.088, 79_000],
    ],
    [0, 19_000, 79_000],
  ],
  [
    'a callback that comes late reads the next frame, which has its own time and is delivered once',
    [0.0015, 0],
    [
      [0, 0.013, 19_000],
      [0.019, 0.0298, 19_000],
      [0.039, 0.046, 39_000],
    ],
    [0, 19_000, 39_000],
  ],
  [
    'a callback that tells the time of a later frame, as Firefox does under load, brings none of an earlier time',
    [0.0006, 0],
    [
      [0.284, 0.29, 0],
      [0.501, 0.38, 0],
      [0.384, 0.39, 0],
      [0.517, 0.52, 0],
    ],
    [0, 284_000, 501_000, 517_000],
  ],
  [
    'the first frame of a MediaStream has the time of its clock, as all others',
    [0.0009, 12_699_139],
    [
      [12.699_139, 0.016, 12_699_139],
      [12.719_116, 0.0326, 12_719_116],
    ],
    [12_699_139, 12_719_116],
  ],
];

for (const [what, loaded, callbacks, expected] of PLAYED)
  test(`playing: ${what}`, async () => {
    const video = new FakeVideo();
    const times = read(video);
    await video.load(...loaded);
    for (const callback of callbacks) await video.shows(...callback);
    expect(times).toEqual(expected);
    expect(made).toHaveLength(1 + callbacks.length);
    expect(made.filter(({ closed }) => !closed)).toEqual([]);
  });

test('Firefox, whose VideoFrames have whole seconds for a timestamp: the times are those of the callbacks', async () => {
  const video = new FakeVideo();
  const times = read(video);
  await video.load(1.011_609, 1);
  await video.shows(1.011_609, 1.011_609, 1);
  await video.shows(1.034_829, 1.034_829, 1);
  await video.shows(2.001_5, 2.000_3, 2);
  await video.shows(2.021_5, 2.020_3, 2);
  expect(times).toEqual([1_011_609, 1_034_829, 2_001_500, 2_021_500]);

  // Within the first second, that timestamp is 0.
  const started = new FakeVideo();
  const early = read(started);
  await started.load(0.7, 0);
  await started.shows(0.72, 0.71, 0);
  expect(early).toEqual([700_000, 720_000]);
});

test('a browser without VideoFrame: the first frame is delivered once, with the position as its time', async () => {
  Reflect.deleteProperty(globalThis, 'VideoFrame');
  Object.assign(globalThis, { createImageBitmap: async () => ({ close: () => {} }) });
  const video = new FakeVideo();
  video.readyState = 4;
  video.currentTime = 0.605;
  const times = read(video);
  await settle();
  await video.shows(0.6, 0.61, NaN);
  await video.shows(0.62, 0.625, NaN);
  expect(times).toEqual([605_000, 620_000]);
});

test('a seek where only callbacks tell times: what the video shows then is a new frame, also if its time is earlier', async () => {
  const paused = new FakeVideo();
  const times = read(paused);
  await paused.load(1.6, 1);
  await paused.seek(1.3);
  await paused.shows(1.28, 1.3, 1);
  await paused.seek(1.1);
  await paused.shows(1.08, 1.1, 1);
  expect(times).toEqual([1_600_000, 1_280_000, 1_080_000]);

  // It seeks when the reading begins: the picture is still that of the old position.
  const seeking = new FakeVideo();
  const first = read(seeking);
  await seeking.seek(1.5);
  await seeking.load(1.5, 1);
  await seeking.shows(1.5, 1.5, 1);
  expect(first).toEqual([1_500_000, 1_500_000]);
});

test('a frame of before a seek whose callback comes late does not hide those after it', async () => {
  for (const isThere of [false, true]) {
    const video = new FakeVideo();
    const times = read(video);
    await video.load(5, 5);
    await video.shows(5.04, 5.05, 5);
    await video.seek(0);
    await video.shows(5.08, 0, 0);
    if (isThere) await video.arrive();
    await video.shows(0.02, 0.03, 0);
    if (!isThere) await video.arrive();
    await video.shows(0.06, 0.07, 0);
    expect(times, `${isThere}`).toEqual([5_000_000, 5_040_000, 5_080_000, 20_000, 60_000]);
  }
});

test('a video that plays backwards, as in Safari, and a stream whose track was replaced by one with another clock', async () => {
  const video = new FakeVideo();
  video.playbackRate = -1;
  const times = read(video);
  await video.load(5, 5);
  // The first is for the frame that was read with the position as its time.
  for (const time of [4.98, 4.94, 4.9]) await video.shows(time, time, 4);
  expect(times).toEqual([5_000_000, 4_940_000, 4_900_000]);

  const showing = Object.assign(new FakeVideo(), { srcObject: { active: true } });
  const clock = read(showing);
  await showing.load(0.01, 99_000_000);
  await showing.shows(99.04, 0.05, 99_040_000);
  await showing.shows(12, 0.09, 12_000_000);
  await showing.shows(12.04, 0.13, 12_040_000);
  expect(clock).toEqual([99_000_000, 99_040_000, 12_000_000, 12_040_000]);
});

test('a seek of a paused video whose callback has the time of the frame before, or does not come, has its frame once', async () => {
  const video = new FakeVideo();
  const times = read(video);
  await video.load(0, 0);
  video.paused = true;
  await video.seek(1.5);
  await video.shows(0, 1.5, 1);
  await video.arrive();
  await video.shows(1.48, 1.5, 1);
  await video.seek(0.5);
  await video.shows(0.48, 0.5, 0);
  await video.arrive();
  expect(times).toEqual([0, 1_500_000, 480_000]);
});

test('the frames end with the camera that a video shows, and when the video loses its source', async () => {
  const camera = { active: true };
  const showing = Object.assign(new FakeVideo(), { srcObject: camera });
  const times = read(showing);
  await showing.load(0.01, 5_000_000);
  showing.dispatchEvent(new Event('suspend'));
  expect(times).toEqual([5_000_000]);
  camera.active = false;
  showing.dispatchEvent(new Event('suspend'));
  expect(times).toEqual([5_000_000, 'undefined: undefined']);

  const moved = Object.assign(new FakeVideo(), { source: 'a.webm' as string | undefined });
  moved.hasAttribute = () => moved.source !== undefined;
  moved.querySelector = () => null;
  const ended = read(moved);
  moved.dispatchEvent(new Event('emptied'));
  expect(ended).toEqual([]);
  moved.source = undefined;
  moved.dispatchEvent(new Event('emptied'));
  expect(ended).toEqual(['undefined: undefined']);
});

test('a paused video whose only callback comes before its first frame can be read delivers that frame', async () => {
  const video = new FakeVideo();
  const times = read(video);
  await video.shows(0, 0, 0);
  expect(times).toEqual([]);
  await video.load(0, 0);
  expect(times).toEqual([0]);
});

test('a frame that cannot be read yet comes with a later callback; ten of them in a row, or an error of another kind, are told', async () => {
  const video = new FakeVideo();
  const times = read(video);
  video.unreadable = 'InvalidStateError';
  await video.load(0, 0);
  expect(times).toEqual([]);
  video.unreadable = '';
  await video.shows(0, 0, 0);
  expect(times).toEqual([0]);
  video.unreadable = 'InvalidStateError';
  await video.shows(0.02, 0.03, 20_000);
  video.unreadable = '';
  await video.shows(0.04, 0.05, 40_000);
  expect(times).toEqual([0, 40_000]);
  video.unreadable = 'InvalidStateError';
  for (let told = 1; told <= 10; told++) await video.shows(0.04 + told / 50, 0.05, 60_000);
  expect(times).toHaveLength(2);
  await video.shows(0.3, 0.31, 60_000);
  expect(times).toEqual([0, 40_000, expect.stringContaining('invalid-input: The <video> has a current frame, but')]);

  const foreign = new FakeVideo();
  const refused = read(foreign);
  foreign.unreadable = 'SecurityError';
  await foreign.load(0, 0);
  expect(refused).toEqual([expect.stringContaining('invalid-input: The pixels of the <video> cannot be read.')]);
});
