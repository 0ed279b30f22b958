import { readFile } from 'node:fs/promises';
import { faceMeasures, headPose, type FaceLandmarks } from 'tabserve';
import { expect, test } from 'tabserve/testing';

test('she smiles into the camera', async ({ tabserve }) => {
  const [result] = await tabserve.run<FaceLandmarks[]>('public/models/face', {
    backends: ['onnx/wasm'],
    input: await readFile('public/astronaut.jpg'),
  });
  expect(result?.verdict, result?.reason).toBe('right');
  const [face] = result!.answer!;
  expect(face!.landmarks).toHaveLength(468);
  expect(faceMeasures(face!).smile).toBeGreaterThan(0.3);
  expect(Math.abs(headPose(face!).yaw)).toBeLessThan(20);
});
