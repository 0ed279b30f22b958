/**
 * What a web developer writes with TensorFlow.js and the same weights: a canvas cuts out what the models see. It is
 * told where to look, and does without what the handler does besides: it decodes no box, joins none, smooths no point
 * and gives no ids.
 */
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { loadGraphModel, type GraphModel } from '@tensorflow/tfjs-converter';
import { add, browser, div, env, expandDims, setBackend, tidy, type Tensor } from '@tensorflow/tfjs-core';
import { DETECT_EVERY, type Task } from './hand-written.ts';

// Its threads break in minified code.
env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
const { href } = new URL('@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm', import.meta.url);
setWasmPaths({
  'tfjs-backend-wasm.wasm': href,
  'tfjs-backend-wasm-simd.wasm': href,
  'tfjs-backend-wasm-threaded-simd.wasm': href,
});

const scope = globalThis as unknown as Worker;

scope.addEventListener('message', ({ data: task }: MessageEvent<Task>) => void start(task), { once: true });

async function start({ archive, detectorSide, side, regions }: Task): Promise<void> {
  await setBackend('wasm');
  const [detector, landmarks] = await Promise.all(
    ['detect', 'landmarks'].map((node) => loadGraphModel(`${archive}${node}/model.json`)),
  );
  const [whole, part] = [detectorSide, side].map((side) =>
    new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true })!,
  );
  /** Runs a model on what a canvas shows. @param scaled converts pixels of 0..255 to what it was trained on */
  const run = async (
    model: GraphModel,
    context: OffscreenCanvasRenderingContext2D,
    scaled: (pixels: Tensor) => Tensor,
  ) => {
    const pixels = context.getImageData(0, 0, context.canvas.width, context.canvas.height);
    const outputs = tidy(() => model.execute(expandDims(scaled(browser.fromPixels(pixels)))));
    for (const output of [outputs].flat()) {
      await output.data();
      output.dispose();
    }
  };
  let count = 0;
  scope.addEventListener('message', async ({ data: frame }: MessageEvent<VideoFrame>) => {
    const { displayWidth: width, displayHeight: height } = frame;
    if (count++ % DETECT_EVERY === 0) {
      const scale = detectorSide / Math.max(width, height);
      const [shownWidth, shownHeight] = [width * scale, height * scale];
      whole!.clearRect(0, 0, detectorSide, detectorSide);
      whole!.drawImage(
        frame,
        (detectorSide - shownWidth) / 2,
        (detectorSide - shownHeight) / 2,
        shownWidth,
        shownHeight,
      );
      await run(detector!, whole!, (pixels) => add(div(pixels, 127.5), -1));
    }
    for (const { x, y, size } of regions) {
      part!.drawImage(frame, x - size / 2, y - size / 2, size, size, 0, 0, side, side);
      await run(landmarks!, part!, (pixels) => div(pixels, 255));
    }
    frame.close();
    scope.postMessage('done');
  });
  scope.postMessage('ready');
}
