import { load, type ImageClassifier } from 'tabserve';
import { ModelServer } from 'tabserve/serving';
const s: ModelServer = new ModelServer({ load });
void s.register('./m/', { name: 'x' });
const w = new ModelServer({ load: (model, options) => load(model, { backends: ['wasm'], ...options }) });
void w.register('./m/', { name: 'x' });
const typed = new ModelServer({ load });
void typed.register('./m/', { name: 'x', handler: 'image_classifier' });
// @ts-expect-error -- misspelt
void typed.register('./m/', { handlr: 'image_classifier' });

// The handler's type, where the app says which one it is; `unknown` where it does not.
const [best] = await typed.predict<ImageClassifier>('x', new Blob());
best!.label satisfies string;
best!.score satisfies number;
// @ts-expect-error -- no such member
void best!.box;
const scores = await typed.predict<ImageClassifier, 'torchserve'>('x', new Blob(), {
  params: { result: 'torchserve' },
});
scores['three']! satisfies number;
const nothing = await typed.predict('x', new Blob());
// @ts-expect-error -- unknown
void nothing.label;
nothing satisfies unknown;
