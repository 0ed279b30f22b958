/** Checked by the compiler alone (`npm run types`): a wrong input or result does not compile. */
import {
  audioChunks,
  connect,
  cosineSimilarity,
  load,
  nearest,
  paintMask,
  paintPicture,
  type ClassMap,
  type Client,
  type Detections,
  type ImageClassifierParams,
  type ImageExplainParams,
  type ImageExplanation,
  type ImageSegmenter,
  type Neighbor,
  type ObjectDetector,
  type Picture,
  type PredictionError,
  type SoftMask,
  type TextExplanation,
  type TorchServeClassification,
  type TorchServeMap,
} from '../../src/index.ts';
import type { BaseHandler } from '../../src/worker.ts';
import { ImageClassifier, type Classification, type Context, type Tensors } from '../../src/worker.ts';

interface Pair {
  readonly a: number;
  readonly b: number;
}
interface Bird {
  readonly species: string;
}
declare class BirdClassifier extends ImageClassifier {
  override postprocess(outputs: Tensors, context: Context): Promise<readonly Bird[]>;
}
declare class Reasoner extends ImageClassifier {
  declare readonly explainParamsType?: ImageExplainParams & { readonly deep?: boolean };
  override getInsights(): Promise<readonly (readonly string[])[]>;
}
declare class Adder extends BaseHandler<Pair> {
  override preprocess(data: readonly Pair[], context: Context): Tensors;
  override postprocess(outputs: Tensors, context: Context): number[];
}
declare const worker: () => Worker;
declare const image: HTMLImageElement;
declare const file: File;
declare const camera: MediaStream;

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

  const clicked = await load('/models/sam/', { handler: 'promptable_segmenter' });
  const kept = await clicked.keep(image);
  const reused = Math.random() < 0.5 ? kept : undefined;
  void [
    await clicked.predict({ image: kept, points: [[1, 2]] }),
    await clicked.keep(new URL('https://example.com/cat.png')),
    await clicked.predict(await clicked.keep({ image: file, points: [[1, 2]] })),
    await classifier.predict(await classifier.keep(image)),
    await clicked.predict({ image: reused ?? file, points: [[1, 2]] }),
    await clicked.predict({ image: reused ?? new URL('https://example.com/cat.png'), points: [[1, 2]] }),
  ];
  // @ts-expect-error A path is no image.
  await clicked.keep('cat.png');
  // @ts-expect-error What is kept cannot be kept again.
  await clicked.keep(kept);
  // @ts-expect-error Nor in another input.
  await clicked.keep({ image: kept, points: [[1, 2]] });

  const tensors: Client<BaseHandler> = await load('/model.onnx', { handler: 'base_handler' });
  const { y }: Tensors = await tensors.predict({ data: new Float32Array(4), dims: [4] });
  // @ts-expect-error It takes tensors, no images.
  await tensors.predict(image);
  void y;

  const detector = await load('/models/nanodet/', { handler: 'object_detector' });
  const detections: Detections = await detector.predict(file, { params: { scoreThreshold: 0.3 } });
  for (const { label, score, box } of detections) void [label.toUpperCase(), score.toFixed(), box.xmax - box.xmin];
  // @ts-expect-error TorchServe's shape is not the default.
  void detections[0]?.cat;
  const [one] = await detector.predict(file, { params: { result: 'torchserve' } });
  void one?.['cat'];
  const torchserve = connect<ObjectDetector, 'torchserve'>(worker, {
    model: '/models/nanodet/',
    config: { handler: { result: 'torchserve' } },
  });
  const [first] = await torchserve.predict(file);
  void first?.['cat'];
  const typed: Detections = await torchserve.predict(file, { params: { result: 'typed' } });
  void typed;

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

  const features = await load('/models/minilm/', { handler: 'text_feature_extractor' });
  const vector: Float32Array = await features.predict('a text', { params: { pooling: 'cls', normalize: false } });
  const likeness: number = cosineSimilarity(vector, [1, 0]);
  const pictures = await load('/models/resnet/', { handler: 'image_feature_extractor' });
  const neighbors: Neighbor[] = nearest(await pictures.predict(file), [vector], 3);
  const upscaler = await load('/models/upscaler/', { handler: 'image_to_image' });
  const picture: Picture = await upscaler.predict(file, { params: { tileSize: 64, overlap: 8 } });
  const pixels: ImageData = paintPicture(picture);
  void [likeness, neighbors, pixels];
  // @ts-expect-error An image has no last token.
  await pictures.predict(file, { params: { pooling: 'last-token' } });

  const unnamed = await load('/models/digits/');
  // @ts-expect-error Which handler the archive names is not known here, and so is the result.
  const result: Classification = await unnamed.predict(file);
  void result;
}

/** A request's params, and the form of the result. */
export async function params(): Promise<void> {
  const classifier = await load('/models/digits/', { handler: 'image_classifier' });
  await classifier.predict(file, { params: { topK: 3, exifOrientation: false, background: [0, 0, 0] } });
  // @ts-expect-error It is called topK.
  await classifier.predict(file, { params: { topk: 3 } });
  // @ts-expect-error A misspelt key beside a right one.
  await classifier.predict(file, { params: { topK: 3, ouput: 'logits' } });
  // @ts-expect-error It is a number.
  await classifier.predict(file, { params: { topK: 'three' } });
  // @ts-expect-error There is no such form.
  await classifier.predict(file, { params: { result: 'mask' } });
  const record: TorchServeClassification = await classifier.predict(file, { params: { result: 'torchserve' } });
  const [row] = await classifier.handle([file], { params: { result: 'torchserve', topK: 1 } });
  const cat: number | undefined = row instanceof Error ? undefined : row!['cat'];
  void [record, cat];
  // @ts-expect-error A wrong type in the config.
  await load('/models/digits/', { handler: 'image_classifier', config: { handler: { topK: 'three' } } });
  const records = await load('/models/digits/', {
    handler: 'image_classifier',
    config: { handler: { result: 'torchserve', labels: ['a', 'b'] }, batchSize: 2 },
  });
  const configured: TorchServeClassification = await records.predict(file);
  const typed: Classification = await records.predict(file, { params: { result: 'typed' } });
  void [configured, typed];

  const segmenter = await load('/models/selfie/', { handler: 'image_segmenter' });
  const { mask }: SoftMask = await segmenter.predict(file, { params: { result: 'mask', foreground: 'person' } });
  const { classes }: ClassMap = await segmenter.predict(file, { params: { result: 'classes' } });
  const { dims }: TorchServeMap = await segmenter.predict(file, { params: { result: 'torchserve' } });
  const masks = await load('/models/selfie/', {
    handler: 'image_segmenter',
    config: { handler: { result: 'mask' } },
  });
  const soft: SoftMask = await masks.predict(file);
  const client: Client<ImageSegmenter, SoftMask> = masks;
  void [mask, classes, dims, soft, client];

  const texts = await load('/models/languages/', { handler: 'text_classifier' });
  await texts.predict('a', { params: { threshold: 0.5, maxLength: 9 } });
  // @ts-expect-error A text has no background.
  await texts.predict('a', { params: { background: [0, 0, 0] } });
  // @ts-expect-error The explanation takes the same params.
  await texts.explain('a', { params: { topk: 3 } });
  const { words }: TextExplanation = await texts.explain('a', { target: 'German', onProgress: ({ done }) => done });
  const { heat }: ImageExplanation = await classifier.explain(file, { method: 'rise', masks: 10, timeout: 1000 });
  // @ts-expect-error It is called method.
  await classifier.explain(file, { metod: 'rise' });
  const reasons: readonly string[] = await connect<Reasoner>(worker, { model: '/models/digits/' }).explain(file, {
    deep: true,
  });
  void reasons;
  // @ts-expect-error A text has no window.
  await texts.explain('a', { window: 3 });
  // @ts-expect-error A segmenter has no explanations.
  await segmenter.explain(file);
  // @ts-expect-error Neither has a handler that does not add any.
  await connect<Adder>(worker, { model: '/models/digits/' }).explain(1);
  await (texts as Client).explain('a');
  void [words, heat];
}

/** A client of any handler, for code that does not care which. */
export function anyClient(
  detector: Client<ObjectDetector>,
  segmenter: Client<ImageSegmenter, SoftMask>,
  adder: Client<Adder>,
): readonly Client[] {
  return [detector, segmenter, adder];
}

interface LoudParams extends ImageClassifierParams {
  readonly volume?: number;
}

/** Changes the result, calls `super.postprocess` without a cast, and adds a param. */
class Loud extends ImageClassifier {
  declare readonly paramsType?: LoudParams;
  override async postprocess(outputs: Tensors, context: Context): Promise<string[]> {
    const rows = await super.postprocess(outputs, context);
    const all: readonly Classification[] = rows;
    void all;
    return rows.map(([best]) => best!.label.toUpperCase());
  }
}

/** Passes on what it has from `super.postprocess`. */
class Counting extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Classification[]> {
    return await super.postprocess(outputs, context);
  }
}

class Wrong extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly string[]> {
    // @ts-expect-error These are classifications.
    return await super.postprocess(outputs, context);
  }
}

class NoList extends ImageClassifier {
  // @ts-expect-error A list is needed.
  override postprocess(): string {
    return 'one';
  }
}

interface CarryParams {
  readonly result?: number;
}
declare class Carrying extends BaseHandler<Pair> {
  declare readonly paramsType?: CarryParams;
  override preprocess(data: readonly Pair[], context: Context): Tensors;
  override postprocess(outputs: Tensors, context: Context): number[];
}

export async function changedResults(context: Context): Promise<void> {
  const loud = connect<Loud>(worker, { model: '/models/digits/' });
  const text: string = await loud.predict(file, { params: { volume: 11, topK: 1 } });
  // @ts-expect-error It is called volume.
  await loud.predict(file, { params: { loudness: 11 } });
  const rows: readonly (string | PredictionError)[] = await new Loud().handle([file], context);
  const counted: Classification = await connect<Counting>(worker, { model: '/models/digits/' }).predict(file);
  const carrying = connect<Carrying>(worker, { model: '/add.onnx' });
  const sum: number = await carrying.predict({ a: 1, b: 2 }, { params: { result: 1 } });
  // @ts-expect-error This handler's own param of that name is a number.
  await carrying.predict({ a: 1, b: 2 }, { params: { result: 'typed' } });
  // A handler that declares no params takes any.
  await connect<Adder>(worker, { model: '/add.onnx' }).predict({ a: 1, b: 2 }, { params: { carry: 1 } });
  void [text, rows, counted, sum, Wrong, NoList];
}

declare class Storyteller extends BaseHandler {
  declare readonly partType?: { readonly line: string };
  override postprocess(outputs: Tensors, context: Context): Promise<readonly number[]>;
}

export async function streams(): Promise<void> {
  const input = { data: new Float32Array(4), dims: [4] };
  for await (const item of connect<Storyteller>(worker, { model: '/story.onnx' }).stream(input)) {
    const typed: number | { readonly line: string } = item;
    // @ts-expect-error The last item is the result, a number.
    void typed.line;
  }
  // The parts of a handler that declares none are of its result's type.
  const detector = await load('/models/nanodet/', { handler: 'object_detector' });
  for await (const item of detector.stream(file, { params: { scoreThreshold: 0.3 } })) void (item satisfies Detections);
  for await (const { result, timestamp, dropped } of detector.frames(camera, {
    fps: 10,
    params: { scoreThreshold: 0.3 },
  }))
    void [result satisfies Detections, timestamp.toFixed(), dropped.toFixed()];
  // @ts-expect-error It reads texts, no frames.
  (await load('/models/languages/', { handler: 'text_classifier' })).frames(camera);
  // @ts-expect-error An image is no source of frames.
  detector.frames(image);
  // @ts-expect-error It takes tensors, no texts.
  connect<Storyteller>(worker, { model: '/story.onnx' }).stream('once upon a time');
}

export async function sequences(track: MediaStreamTrack, buffer: AudioBuffer): Promise<void> {
  const vad = await load('/models/vad/', { handler: 'voice_activity_detector' });
  const { segments, duration } = await vad.predict(buffer, { params: { threshold: 0.4 } });
  await vad.predict(new URL('https://example.com/speech.wav'));
  await vad.predict({ samples: new Float32Array(512), sampleRate: 16_000 });
  // @ts-expect-error Samples have a rate.
  await vad.predict({ samples: new Float32Array(512) });
  const sequence = vad.openSequence({ idleTimeout: 1000 });
  for await (const chunk of audioChunks(track)) {
    const { events, speaking } = await sequence.predict(chunk, { params: { minSilenceDurationMs: 500 } });
    for (const { type, time } of events) void [type satisfies 'start' | 'end', time.toFixed(), speaking];
    // @ts-expect-error A piece has no segments.
    void (await sequence.predict(chunk)).segments;
  }
  // @ts-expect-error An image is no audio.
  await sequence.predict(image);
  // A handler that declares no other type answers in a sequence as it does to a single request.
  const birds = connect<BirdClassifier>(worker, { model: '/models/birds/' });
  const { species }: Bird = await birds.openSequence().predict(image);
  void [segments[0]?.start.toFixed(), duration, species];
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
