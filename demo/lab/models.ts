import type { ModelFormat } from '../../src/index.js';

export interface LabModel {
  /** Its name in the address. */
  readonly id: string;
  readonly name: string;
  /** Size of the ONNX file, in bytes. */
  readonly bytes: number;
  /**
   * Bare weights, without the archive around them: its golden examples would refuse a wrong backend before its error is
   * seen.
   */
  readonly weights: Readonly<Partial<Record<ModelFormat, string | File>>>;
  /** Sizes of dimensions that the model leaves open, by their symbol. */
  readonly sizes?: Readonly<Record<string, number>>;
}

/** Models up to this size are small. */
const SMALL = 2e6;

export const MODELS: readonly [LabModel, ...LabModel[]] = [
  {
    id: 'selfie',
    name: 'Selfie segmentation',
    bytes: 450_650,
    weights: { onnx: 'models/selfie/model.onnx', tfjs: 'models/selfie/model.json' },
  },
  {
    id: 'digits',
    name: 'Digits',
    bytes: 106_341,
    weights: { onnx: 'models/digits/digits.onnx', tfjs: 'models/digits/model.json' },
  },
  {
    id: 'orientation',
    name: 'Text orientation',
    bytes: 533_506,
    weights: { onnx: 'models/orientation/model.onnx', tfjs: 'models/orientation/model.json' },
    sizes: { 'p2o.DynamicDimension.1': 48, 'p2o.DynamicDimension.2': 192, 'x, axis 2': 48, 'x, axis 3': 192 },
  },
  {
    id: 'languages',
    name: 'Languages',
    bytes: 1_729_609,
    weights: { onnx: 'models/languages/languages.onnx', tfjs: 'models/languages/model.json' },
    sizes: { length: 64, 'input_ids, axis 1': 64, 'attention_mask, axis 1': 64 },
  },
  {
    id: 'nanodet',
    name: 'NanoDet',
    bytes: 7_607_720,
    weights: { onnx: 'models/nanodet/model.onnx', tfjs: 'models/nanodet/model.json' },
  },
];

export function isSmall({ bytes }: LabModel): boolean {
  return bytes <= SMALL;
}
