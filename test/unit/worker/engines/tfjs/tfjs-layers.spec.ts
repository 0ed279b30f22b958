import { expect, test } from '@playwright/test';
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-backend-cpu';
import * as layersLibrary from '@tensorflow/tfjs-layers';
import { loadLayers } from '../../../../../src/worker/engines/tfjs/layers.ts';

test('a Sequential model of Keras has names for its input and output', async () => {
  await tf.setBackend('cpu');
  const layers = [
    { class_name: 'InputLayer', config: { name: 'in', batch_input_shape: [null, 2], dtype: 'float32', sparse: false } },
    { class_name: 'Dense', config: { name: 'd', units: 1, activation: 'linear', use_bias: true, dtype: 'float32' } },
  ];
  const model = {
    modelTopology: { class_name: 'Sequential', config: { name: 's', layers } },
    weightsManifest: [
      {
        paths: ['w.bin'],
        weights: [
          { name: 'd/kernel', shape: [2, 1], dtype: 'float32' },
          { name: 'd/bias', shape: [1], dtype: 'float32' },
        ],
      },
    ],
  };
  const artifacts = { model: model as never, weightData: [Float32Array.of(3, 5, 7).buffer] };
  const loaded = await loadLayers(artifacts, layersLibrary);
  expect(loaded.inputs).toEqual([{ name: 'in', dtype: 'float32', dims: [null, 2] }]);
  expect(loaded.outputs).toMatchObject([{ name: 'd', dims: [null, 1] }]);
  const [output] = (await loaded.execute({ in: tf.tensor2d([[1, 10]]) } as never)) as tf.Tensor[];
  // 1 · 3 + 10 · 5 + 7
  expect([...(await output!.data())]).toEqual([60]);
});

test('what computes the output of a layers model, if it is a probability', async () => {
  await tf.setBackend('cpu');
  const opOf = async (...last: object[]) => {
    const layers = [
      {
        class_name: 'InputLayer',
        config: { name: 'in', batch_input_shape: [null, 2], dtype: 'float32', sparse: false },
      },
      ...last,
    ];
    const model = { modelTopology: { class_name: 'Sequential', config: { name: 's', layers } }, weightsManifest: [] };
    return (await loadLayers({ model: model as never, weightData: [] }, layersLibrary)).outputs[0]!.op;
  };
  for (const [activation, op] of [
    ['softmax', 'Softmax'],
    ['sigmoid', 'Sigmoid'],
    ['hard_sigmoid', 'HardSigmoid'],
    ['linear', undefined],
    ['relu', undefined],
  ] as const)
    expect(await opOf({ class_name: 'Activation', config: { name: 'a', activation } }), activation).toBe(op);
  expect(await opOf({ class_name: 'Softmax', config: { name: 'a', axis: -1 } })).toBe('Softmax');
  expect(await opOf({ class_name: 'Dropout', config: { name: 'a', rate: 0.5 } })).toBeUndefined();
});
