/** The precisions of the ONNX models in a repository of Hugging Face, as transformers.js calls them. */
export const PRECISIONS = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const;
/** The precision of a model's weights. */
export type Precision = (typeof PRECISIONS)[number];

/** The precisions that a model computes with in 16 bits. */
export const HALF_PRECISIONS: readonly Precision[] = ['fp16', 'q4f16'];

/** A file with the whole model, and the precision of its weights. */
export interface ModelFile {
  readonly path: string;
  readonly precision: Precision;
}
