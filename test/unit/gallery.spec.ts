import { expect, test } from '@playwright/test';
import { detection } from '../../demo/demos/detection.ts';

/** The snippet of the page, run as it stands with a stand-in for the package. */
async function runSnippet(predict: () => Promise<string>): Promise<{ drawn: string[]; disposed: boolean }> {
  const drawn: string[] = [];
  let disposed = false;
  const detector = { predict, dispose: async () => void (disposed = true) };
  const video = {
    frames: 0,
    get paused() {
      return this.frames++ === 5;
    },
  };
  const code = detection.snippet(detection.models[0], '').replace(/^import .*$/m, '');
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<void>;
  const draw = (result: string): void => void drawn.push(result);
  await new AsyncFunction('load', 'photo', 'video', 'draw', code)(async () => detector, 'a photo', video, draw);
  return { drawn, disposed };
}

/** Fails once, at the third call: the first frame of the video. */
function failingOnce(error: Error): () => Promise<string> {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 3) throw error;
    return `answer ${calls}`;
  };
}

test('the detection snippet continues after a lost GPU', async () => {
  const lost = Object.assign(new Error('the GPU was lost'), { retriable: true });
  const { drawn, disposed } = await runSnippet(failingOnce(lost));
  expect(drawn).toEqual(['answer 4', 'answer 5', 'answer 6', 'answer 7']);
  expect(disposed).toBe(true);
});

test('the detection snippet ends with an error that a retry cannot mend', async () => {
  const wrong = Object.assign(new Error('wrong input'), { retriable: false });
  await expect(runSnippet(failingOnce(wrong))).rejects.toThrow('wrong input');
});
