import { PRECISIONS, type Precision } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import { isRecord } from '../../shared/schema.js';
import type { Source } from '../sources/source.js';
import type { Json } from './json.js';

/** How the name of the file with the model ends, as transformers.js names it. */
const ENDINGS: Readonly<Record<Precision, string>> = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
};

/** The order in which files are looked for if nobody has chosen: full precision first, which every backend runs. */
const USUAL: readonly Precision[] = ['fp32', 'fp16', 'q8'];

/** The folders in which exporters put models: transformers.js' converter, and Optimum. */
const FOLDERS = ['onnx/', ''];

/**
 * Returns the path of the model in the chosen precision: the caller's `engine.dtype`, otherwise that of `transformers.js_config` in `config.json`.
 * If neither is set, it is the first that exists of full precision, float16 and 8-bit.
 * @throws `model-not-found` with the names of the files that were looked for
 */
export async function findModel(source: Source, config: Json, chosen: Precision | undefined): Promise<string> {
  const wanted = chosen ?? ownPrecision(config);
  const paths = (wanted === undefined ? USUAL : [wanted]).flatMap((precision) =>
    FOLDERS.map((folder) => `${folder}model${ENDINGS[precision]}.onnx`),
  );
  for (const path of paths) if (await source.has(path)) return path;
  const others = wanted === undefined ? 'another precision' : `another precision than ${wanted}`;
  throw new TabServeError(
    'model-not-found',
    `${source.url} has none of ${paths.join(', ')}. If it has the model in ${others}, set engine.dtype: ${PRECISIONS.join(', ')}. If it has no ONNX model, export one with Optimum.`,
  );
}

/** Returns the precision that the repository itself names for its model; undefined if it names none. */
function ownPrecision(config: Json): Precision | undefined {
  const own = config['transformers.js_config'];
  const dtype = isRecord(own) ? own['dtype'] : undefined;
  const name = isRecord(dtype) ? dtype['model'] : dtype;
  return PRECISIONS.find((precision) => precision === name);
}
