import type { ModelConfig } from '../../contract/archive.js';
import { HUB_PRECISIONS, type ModelFile, type Precision } from '../../contract/precisions.js';
import { isRecord } from '../../shared/schema.js';
import { missingModel, possiblePrecisions, sortFiles } from '../choose-model.js';
import type { Source } from '../sources/source.js';
import type { Json } from './json.js';

/** How the name of the file with the model ends, as transformers.js names it. */
const ENDINGS: Readonly<Record<(typeof HUB_PRECISIONS)[number], string>> = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
};

/** The folders in which exporters put models: transformers.js' converter, and Optimum. */
const FOLDERS = ['onnx/', ''];

/**
 * Returns the files that the model may be in; of files at hand, those that exist.
 * @throws `model-not-found` if the model is not at hand in any precision that `config` allows
 */
export function modelFiles(source: Source, config: ModelConfig): readonly ModelFile[] {
  const all = FOLDERS.flatMap((folder) =>
    HUB_PRECISIONS.map((precision) => ({ path: `${folder}model${ENDINGS[precision]}.onnx`, precision })),
  );
  const { paths } = source;
  const files = paths ? all.filter(({ path }) => paths.includes(path)) : all;
  const possible = possiblePrecisions(config);
  if (sortFiles(files, possible).length === 0) throw missingModel(source, sortFiles(all, possible));
  return files;
}

/** Returns the precision that the repository itself names for its model; undefined if it names none. */
export function ownPrecision(config: Json): Precision | undefined {
  const own = config['transformers.js_config'];
  const dtype = isRecord(own) ? own['dtype'] : undefined;
  const name = isRecord(dtype) ? dtype['model'] : dtype;
  return HUB_PRECISIONS.find((precision) => precision === name);
}
