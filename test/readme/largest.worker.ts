import { expose, functionHandler, tensors, unwrap, type Context, type Row } from 'tabserve/worker';

export async function largest(data: readonly Row<readonly number[]>[], context: Context): Promise<number[]> {
  const model = await context.open();
  return await Promise.all(
    data.map(async (row) => {
      const numbers = Float32Array.from(unwrap(row));
      const outputs = await model.run({ x: tensors.from({ data: numbers, dims: [1, numbers.length] }) });
      return Math.max(...tensors.toFloats(outputs['y']!));
    }),
  );
}

export const Largest = functionHandler(largest);
expose(Largest);
