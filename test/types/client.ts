/** Checked by the compiler alone (`npm run types`): a wrong input or result does not compile. */
import { connect, load, paintMask, type Client, type Detections, type TorchServeDetection } from '../../src/index.ts';
import type {
  BaseHandler,
  Classification,
  Context,
  ImageClassifier,
  ObjectDetector,
  Tensors,
} from '../../src/worker.ts';

interface Pair {
  readonly a: number;
  readonly b: number;
}
interface Bird {
  readonly species: string;
}
declare class BirdClassifier extends ImageClassifier<Bird> {
  override postprocess(outputs: Tensors, context: Context): Promise<readonly Bird[]>;
}
declare class Adder extends BaseHandler<Pair, number> {
  override preprocess(data: readonly Pair[], context: Context): Tensors;
  override postprocess(outputs: Tensors, context: Context): number[];
}
declare const worker: () => Worker;
declare const image: HTMLImageElement;
declare const file: File;

export async function builtIn(): Promise<void> {
  const classifier = await load('/models/digits/', { handler: 'image_classifier' });
  const classes: Classification = await classifier.predict(file);
  const label: string | undefined = classes[0]?.label;
  void [
    label,
    classes.map(({ score }) => score.toFixed(2)),
    await classifier.predict(image),
    await classifier.predict({ data: image }),
    await classifier.predict(new URL('https://example.com/cat.png')),
    await classifier.predict({ data: new URL('blob:x') }),
  ];
  // @ts-expect-error A path is no image: a URL is an object.
  await classifier.predict('cat.png');
  // @ts-expect-error There is no such handler.
  await load('/models/digits/', { handler: 'image_guesser' });
  // @ts-expect-error There is no such backend.
  await load('/models/digits/', { backends: ['cuda'] });

  const tensors: Client<BaseHandler> = await load('/model.onnx', { handler: 'base_handler' });
  const { y }: Tensors = await tensors.predict({ data: new Float32Array(4), dims: [4] });
  // @ts-expect-error It takes tensors, no images.
  await tensors.predict(image);
  void y;

  const detector = await load('/models/centernet/', { handler: 'object_detector' });
  const detections: Detections = await detector.predict(file, { params: { scoreThreshold: 0.3 } });
  for (const { label, score, box } of detections) void [label.toUpperCase(), score.toFixed(), box.xmax - box.xmin];
  // @ts-expect-error TorchServe's shape is not the default.
  void detections[0]?.cat;
  const torchserve = connect<ObjectDetector<readonly TorchServeDetection[]>>(worker, {
    model: '/models/centernet/',
    config: { handler: { result: 'torchserve' } },
  });
  const [first] = await torchserve.predict(file);
  void first?.['cat'];

  const segmenter = await load('/models/selfie/', { handler: 'image_segmenter' });
  const segmentation = await segmenter.predict(file);
  // @ts-expect-error Which kind it is, the archive's config says.
  void segmentation.mask;
  if (segmentation.result === 'mask') void [segmentation.mask, segmentation.label, segmentation.width];
  else if (segmentation.result === 'classes') void segmentation.labels[segmentation.classes[0]!];
  else void segmentation.dims;
  const painted: ImageData = paintMask(segmentation);
  void painted;
  const texts = await load('/models/languages/', { handler: 'text_classifier' });
  const languages: Classification = await texts.predict('a text');
  void [
    languages,
    await texts.predict(file),
    await texts.predict({ text: 'a question', textPair: 'its passage' }),
    await texts.handle(['a', { data: 'b' }]),
  ];
  // @ts-expect-error It takes texts, no images.
  await texts.predict(image);
  // @ts-expect-error Nor are texts downloaded.
  await texts.predict(new URL('https://example.com/text'));

  const unnamed = await load('/models/digits/');
  // @ts-expect-error Which handler the archive names is not known here, and so is the result.
  const result: Classification = await unnamed.predict(file);
  void result;
}

export async function ownHandlers(): Promise<void> {
  const birds = connect<BirdClassifier>(worker, { model: '/models/birds/' });
  const { species }: Bird = await birds.predict(image);
  const rows = await birds.handle([file, image]);
  for (const row of rows) {
    // @ts-expect-error A row may be a PredictionError.
    void row.species;
    if (!(row instanceof Error)) void row.species;
  }
  const adder = connect<Adder>(worker, { model: '/add.onnx' });
  const sum: number = await adder.predict({ a: 1, b: 2 });
  // @ts-expect-error It takes two numbers.
  await adder.predict({ a: 1 });
  void [species, sum];
  // @ts-expect-error A model is needed.
  connect<Adder>(worker, {});
  birds.on('backendchange', ({ name }) => void name);
  // @ts-expect-error There is no such event.
  birds.on('backendchanged', () => {});
}
