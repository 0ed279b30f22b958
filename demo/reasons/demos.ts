import {
  load,
  type Client,
  type ImageClassifier,
  type ImageExplainParams,
  type ObjectDetector,
} from '../../src/index.js';
import { input, literal, loading } from '../demos/code.js';
import { detection } from '../demos/detection.js';
import { digits } from '../demos/digits.js';
import type { Demo, Input, InputEvents, Model, Run } from '../demo.js';
import { drawPad } from '../inputs/draw-pad.js';
import { photoStage, scaledDown } from '../inputs/photo-stage.js';
import { heat, type HeatOutput } from './heat.js';
import { work as newWork } from './work.js';

/** The longer side of a photo: a heat map has one number for each of its pixels. */
const MAX_SIDE = 1280;

type Explaining = Client<ObjectDetector> | Client<ImageClassifier>;

/** Shows why an object is found in a photo. */
export function photoReasons(): Demo {
  return reasonsOf(detection, 'object_detector', {
    open: (url, options) => load(url, { handler: 'object_detector', ...options }),
    // 81 windows over the model's 416 pixels: some seconds on WASM.
    params: { occlusion: { window: 88, stride: 44 }, rise: { masks: 300 } },
    stage: () => photoStage(MAX_SIDE),
    over: (stage) => stage.element.querySelector<HTMLElement>('.layers')!,
    hint: 'You can also drop or paste a photo anywhere on the page. Your pictures stay on this device.',
  });
}

/** Shows why a digit is read as it is. */
export function digitReasons(): Demo {
  return reasonsOf(digits, 'image_classifier', {
    open: (url, options) => load(url, { handler: 'image_classifier', ...options }),
    // Black is what is behind a digit.
    params: { occlusion: { baseline: 0 }, rise: { masks: 1000, baseline: 0 } },
    stage: (events) => drawPad(events, 'Draw a digit'),
    over: (stage) => stage.element,
    hint: digits.hint,
  });
}

interface Kind {
  open(url: string, options: Parameters<Demo['load']>[1]): Promise<Explaining>;
  readonly params: Readonly<Record<'occlusion' | 'rise', ImageExplainParams>>;
  stage(events: InputEvents): Input;
  /** Returns the element that the heat map covers. */
  over(stage: Input): HTMLElement;
  readonly hint: string;
}

/** Returns a demo of the same models and samples that explains its answers. */
function reasonsOf(from: Demo, handler: string, { open, params, stage, over, hint }: Kind): Demo {
  const work = newWork();
  let output: HeatOutput;
  return {
    ...from,
    hint,
    snippet: (run) => snippet(handler, run),
    async load({ url }, options): Promise<Model> {
      const client = await open(url, options);
      const { labels } = await client.describe();
      output.offer(Object.values(labels as Readonly<Record<string, string>>));
      return {
        get backend() {
          return client.backend;
        },
        async predict(picture: Blob | HTMLCanvasElement, { params: own }) {
          const input = picture instanceof Blob ? await scaledDown(picture, MAX_SIDE) : picture;
          return await work.run((signal, onProgress) => client.explain(input, { ...own, signal, onProgress }));
        },
        on: (event, listener) => client.on(event, listener),
        dispose: () => client.dispose(),
      };
    },
    mount(events) {
      const changed = (): void => {
        work.cancel();
        output.clear();
        events.changed();
      };
      const given = stage({ ...events, changed, emptied: () => (work.cancel(), events.emptied()) });
      output = heat(over(given), work, params, changed);
      const { show } = given;
      given.show = async (file) => {
        work.cancel();
        await show(file);
        output.clear();
      };
      return { input: given, output: output as never };
    },
  };
}

function snippet(handler: string, run: Run): string {
  return `import { load, paintHeatMap } from 'tabserve';

${loading('model', handler, run)}
${input('photo', run.source)}
const explanation = await model.explain(photo, {
  ...${literal(run.params)},
  onProgress: ({ done, total }) => console.log(done, 'of', total),
});

const { width, height } = explanation;
const canvas = Object.assign(document.createElement('canvas'), { width, height });
canvas.getContext('2d')!.putImageData(paintHeatMap(explanation), 0, 0); // to be shown over the photo
document.body.append(canvas);
await model.dispose();
`;
}
