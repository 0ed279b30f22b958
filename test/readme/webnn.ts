import { load } from 'tabserve';

const net = await load('/models/languages/', {
  handler: 'text_classifier',
  backends: ['webnn', 'wasm'],
  config: { engine: { freeDimensions: { batch: 1, length: 64 } } },
});
console.log(net.backend?.name, net.backend?.nodes); // webnn { total: 75, onWasm: 0, operators: [] }
