import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';
const s: ModelServer = new ModelServer({ load });
void s.register('./m/', { name: 'x' });
const w = new ModelServer({ load: (model, options) => load(model, { backends: ['wasm'], ...options }) });
void w.register('./m/', { name: 'x' });
const typed = new ModelServer({ load });
void typed.register('./m/', { name: 'x', handler: 'image_classifier' });
// @ts-expect-error -- misspelt
void typed.register('./m/', { handlr: 'image_classifier' });
