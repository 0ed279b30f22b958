/** The precisions of the ONNX models in a repository of Hugging Face, as transformers.js calls them. */
export const HUB_PRECISIONS = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const;
/** How the name of a repository's file with the model may end, before `.onnx`. */
export const HUB_ENDINGS: Readonly<Record<(typeof HUB_PRECISIONS)[number], readonly string[]>> = {
  fp32: [''],
  fp16: ['_fp16'],
  q8: ['_quantized'],
  // The second one is that of onnx-asr and sherpa-onnx.
  int8: ['_int8', '.int8'],
  uint8: ['_uint8'],
  q4: ['_q4'],
  q4f16: ['_q4f16'],
  bnb4: ['_bnb4'],
};
/**
 * Smaller files of a model that computes in full precision: only its weights are stored in fewer bits, and become
 * float32 when it is opened. `tabserve optimize` makes them.
 */
export const STORED_PRECISIONS = ['float16-weights', 'int8-weights'] as const;
export const PRECISIONS = [...HUB_PRECISIONS, ...STORED_PRECISIONS] as const;
/** The precision of a model's weights. */
export type Precision = (typeof PRECISIONS)[number];

/** The precisions that a model computes with in 16 bits. */
export const HALF_PRECISIONS: readonly Precision[] = ['fp16', 'q4f16'];

/** What may be enough instead of outputs within the tolerance: `labels`, the same best label. */
export const AGREEMENTS = ['labels'] as const;
export type Agreement = (typeof AGREEMENTS)[number];

/** A file with the whole model, and the precision of its weights. */
export interface ModelFile {
  readonly path: string;
  readonly precision: Precision;
  /** How far its outputs must agree with the golden examples. @default within the tolerance */
  readonly agreement?: Agreement;
}
