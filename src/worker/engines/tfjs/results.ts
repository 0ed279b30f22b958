import type { GraphNode } from './artifacts.js';

/** A dtype; the attribute that holds it; or an attribute and its default value, which the converter omits. */
type Result = string | readonly [attribute: string, byDefault: string];

const BOOLEAN = [
  'Equal',
  'NotEqual',
  'Greater',
  'GreaterEqual',
  'Less',
  'LessEqual',
  'LogicalAnd',
  'LogicalOr',
  'LogicalNot',
  'IsNan',
  'IsInf',
  'IsFinite',
  'All',
  'Any',
];

/**
 * The dtypes of operations' outputs, in order, for operations whose outputs do not have the dtype `T`, or whose
 * attribute may be missing.
 * @see https://github.com/tensorflow/tensorflow/tree/master/tensorflow/core/ops `REGISTER_OP`
 */
const RESULTS: Readonly<Record<string, readonly Result[]>> = {
  ...Object.fromEntries(BOOLEAN.map((op) => [op, ['DT_BOOL']])),
  Where: ['DT_INT64'],
  ArgMax: [['output_type', 'DT_INT64']],
  ArgMin: [['output_type', 'DT_INT64']],
  Multinomial: [['output_dtype', 'DT_INT64']],
  MaxPoolWithArgmax: ['T', ['Targmax', 'DT_INT64']],
  Shape: [['out_type', 'DT_INT32']],
  Size: [['out_type', 'DT_INT32']],
  Rank: ['DT_INT32'],
  Range: [['Tidx', 'DT_INT32']],
  LowerBound: [['out_type', 'DT_INT32']],
  UpperBound: [['out_type', 'DT_INT32']],
  TopKV2: ['T', ['index_type', 'DT_INT32']],
  Unique: ['T', ['out_idx', 'DT_INT32']],
  UniqueV2: ['T', ['out_idx', 'DT_INT32']],
  ListDiff: ['T', ['out_idx', 'DT_INT32']],
  Merge: ['T', 'DT_INT32'],
  NonMaxSuppressionV2: ['DT_INT32'],
  NonMaxSuppressionV3: ['DT_INT32'],
  NonMaxSuppressionV4: ['DT_INT32', 'DT_INT32'],
  NonMaxSuppressionV5: ['DT_INT32', ['T', 'DT_FLOAT'], 'DT_INT32'],
  TensorArraySizeV3: ['DT_INT32'],
  TensorListLength: ['DT_INT32'],
  LookupTableSize: ['DT_INT64'],
  LookupTableSizeV2: ['DT_INT64'],
  SparseFillEmptyRows: ['DT_INT64', 'T', 'DT_BOOL', 'DT_INT64'],
  SparseReshape: ['DT_INT64', 'DT_INT64'],
  CropAndResize: ['DT_FLOAT'],
  ResizeBilinear: ['DT_FLOAT'],
  FusedBatchNormV2: ['T', 'U', 'U', 'U', 'U'],
  FusedBatchNormV3: ['T', 'U', 'U', 'U', 'U', 'U'],
  ComplexAbs: [['Tout', 'DT_FLOAT']],
  Real: [['Tout', 'DT_FLOAT']],
  Imag: [['Tout', 'DT_FLOAT']],
  IRFFT: [['Treal', 'DT_FLOAT']],
  StaticRegexReplace: ['DT_STRING'],
  StringLower: ['DT_STRING'],
  StringUpper: ['DT_STRING'],
  StringNGrams: ['DT_STRING', ['Tsplits', 'DT_INT64']],
  StringSplit: ['DT_INT64', 'DT_STRING', 'DT_INT64'],
  StringToHashBucketFast: ['DT_INT64'],
};

/**
 * Attributes that hold the output's dtype for all other operations, the most reliable first: a random operation's `T`
 * is the dtype of its shape.
 */
const ATTRIBUTES = ['Tout', 'DstT', 'Tparams', 'element_dtype', 'dtype', 'output_type', 'out_type', 'T'];

/** Returns the `DataType` of a node's output `index`; undefined if the node does not declare it. */
export function resultOf({ op, attr = {} }: GraphNode, index: number): string | number | undefined {
  const read = (attribute: string): string | number | undefined =>
    attr[attribute]?.type ?? attr[attribute]?.list?.type?.[index];
  if (!Object.hasOwn(RESULTS, op)) return ATTRIBUTES.map(read).find((type) => type !== undefined);
  const result = RESULTS[op]![index] ?? [];
  if (typeof result === 'string') return result.startsWith('DT_') ? result : read(result);
  const [attribute, byDefault] = result;
  return attribute === undefined ? undefined : (read(attribute) ?? byDefault);
}
