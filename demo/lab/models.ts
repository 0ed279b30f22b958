import type { EngineName } from '../../src/index.js';

export const ENGINE_NAMES: Readonly<Record<EngineName, string>> = { onnx: 'ONNX Runtime', tfjs: 'TensorFlow.js' };

export interface LabModel {
  readonly name: string;
  /** Bare weights, without the archive around them: its golden examples would refuse a wrong backend before its error is seen. */
  readonly weights: Readonly<Partial<Record<EngineName, string | File>>>;
  /** Sizes of dimensions that the model leaves open, by their symbol. */
  readonly sizes?: Readonly<Record<string, number>>;
}

export const MODELS: readonly [LabModel, ...LabModel[]] = [
  { name: 'Digits, in both formats', weights: { onnx: 'models/digits/digits.onnx', tfjs: 'models/digits/model.json' } },
  {
    name: 'Selfie segmentation, in both formats',
    weights: { onnx: 'models/selfie/model.onnx', tfjs: 'models/selfie/model.json' },
  },
  {
    name: 'NanoDet, in both formats',
    weights: { onnx: 'models/nanodet/model.onnx', tfjs: 'models/nanodet/model.json' },
  },
  {
    name: 'Text orientation, in both formats',
    weights: { onnx: 'models/orientation/model.onnx', tfjs: 'models/orientation/model.json' },
    sizes: { 'p2o.DynamicDimension.1': 48, 'p2o.DynamicDimension.2': 192, 'x, axis 2': 48, 'x, axis 3': 192 },
  },
  {
    name: 'Languages, in both formats',
    weights: { onnx: 'models/languages/languages.onnx', tfjs: 'models/languages/model.json' },
    sizes: { length: 64, 'input_ids, axis 1': 64, 'attention_mask, axis 1': 64 },
  },
];
