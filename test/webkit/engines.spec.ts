import { engineContract, tensorFlowContract, type EngineOfSuite } from '../browser/engine-contract.ts';
import { test } from './fixtures.ts';

const ONNX: EngineOfSuite = { of: 'ONNX Runtime', on: () => 'onnx/wasm' };
const TENSORFLOW: EngineOfSuite = { of: 'TensorFlow.js', on: () => 'tfjs/wasm' };

test.skip(({ full }) => !full, 'npm run webkit runs it');

engineContract(test as never, ONNX);
engineContract(test as never, TENSORFLOW);
tensorFlowContract(test as never, TENSORFLOW);
