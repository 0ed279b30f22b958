import { describeValue } from '../../contract/describe-value.js';
import { DTYPES, dtypesBy } from '../../contract/dtypes.js';
import type { DType } from '../../contract/tensors.js';
import { Fault } from './fault.js';

const BY_NAME = dtypesBy(({ openInference }) => [openInference]);

/** Returns the protocol's name of a dtype, e.g. `FP32`. */
export function datatypeOf(dtype: DType): string {
  return DTYPES[dtype].openInference;
}

/** Returns the dtype with a name of the protocol. @throws `Fault` for a name without a dtype, such as `BF16` */
export function dtypeOf(datatype: unknown): DType {
  const dtype = typeof datatype === 'string' ? BY_NAME.get(datatype) : undefined;
  if (dtype) return dtype;
  throw new Fault(`its datatype is ${describeValue(datatype)}, expected one of ${[...BY_NAME.keys()].join(', ')}`);
}
