import { load } from 'tabserve';

const digits = await load('/models/digits/', { handler: 'image_classifier' });
const image = { dtype: 'float32', dims: [1, 1, 28, 28], data: new Float32Array(28 * 28) } as const;
const { logits } = await digits.infer({ image });
console.log(logits?.dtype, logits?.dims); // float32 [1, 10]
