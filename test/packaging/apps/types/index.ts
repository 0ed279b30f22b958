import { connect, load, TabServeError, type Backend, type Client } from 'tabserve';
import {
  createTestContext,
  expose,
  ImageClassifier,
  type Classification,
  type Context,
  type Tensors,
} from 'tabserve/worker';
import { onnxWasm } from 'tabserve/engines/onnx-wasm';
import { expose as exposeCore, type Engines } from 'tabserve/worker/core';
import { load as loadStandalone } from 'tabserve/standalone';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function assert<T extends true>(): T | void {}

class Loudest extends ImageClassifier {
  override postprocess(_outputs: Tensors, _context: Context): string[] {
    return ['one'];
  }
}

export async function page(photo: Blob): Promise<void> {
  const classifier = await load('/models/digits/', { handler: 'image_classifier', backends: ['wasm'] });
  const classes = await classifier.predict(photo, { params: { topK: 3 } });
  assert<Equal<typeof classes, Classification>>();
  const same: typeof classifier = await loadStandalone('/models/digits/', { handler: 'image_classifier' });
  const backend: Backend | undefined = same.backend;

  const loudest: Client<Loudest> = connect<Loudest>(() => new Worker(new URL('./loudest.js', import.meta.url)), {
    model: '/models/digits/',
  });
  const answer: string = await loudest.predict(photo);
  // @ts-expect-error a number is no image
  await loudest.predict(7);
  // @ts-expect-error no such handler
  await load('/models/digits/', { handler: 'image_clasifier' });
  if (backend === undefined) throw new TabServeError('no-backend', answer);
}

export function worker(): void {
  const engines: Engines = { 'onnx/wasm': onnxWasm };
  expose(Loudest);
  exposeCore(Loudest, { engines });
  void new Loudest().initialize(createTestContext());
}
