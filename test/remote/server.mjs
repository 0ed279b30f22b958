/**
 * A process that serves ONNX models with onnxruntime-node: `node server.mjs NAME=FILE …`. Prints its port, and ends
 * with its standard input.
 */
import * as ort from 'onnxruntime-node';
import { createProtocolServer } from './protocol-server.mjs';

const DATATYPES = {
  float32: ['FP32', Float32Array],
  float64: ['FP64', Float64Array],
  int32: ['INT32', Int32Array],
  int64: ['INT64', BigInt64Array],
  uint8: ['UINT8', Uint8Array],
  bool: ['BOOL', Uint8Array],
};
const dtypeOf = (datatype) => Object.keys(DATATYPES).find((dtype) => DATATYPES[dtype][0] === datatype);

const info = ({ name, type, shape }) => ({
  name,
  datatype: DATATYPES[type][0],
  shape: shape.map((size) => (typeof size === 'number' ? size : -1)),
});

async function open(file) {
  const session = await ort.InferenceSession.create(file);
  return {
    inputs: session.inputMetadata.map(info),
    outputs: session.outputMetadata.map(info),
    async run(inputs) {
      const feeds = inputs.map(({ name, datatype, shape, values }) => {
        const dtype = dtypeOf(datatype);
        const Data = DATATYPES[dtype][1];
        return [name, new ort.Tensor(dtype, Data.from(values, dtype === 'int64' ? BigInt : Number), shape)];
      });
      const results = await session.run(Object.fromEntries(feeds));
      return Object.entries(results).map(([name, { type, dims, data }]) => ({
        name,
        datatype: DATATYPES[type][0],
        shape: dims,
        values: Array.from(data),
      }));
    },
  };
}

const models = process.argv.slice(2).map((entry) => entry.split('='));
const opened = await Promise.all(models.map(async ([name, file]) => [name, await open(file)]));
const server = createProtocolServer(Object.fromEntries(opened));
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().on('end', () => process.exit());
