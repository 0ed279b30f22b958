// Every entry of the package but tabserve/testing, which needs Playwright: testing.spec.ts compiles it; tabserve/node, which
// needs Node's types; and tabserve/vue and tabserve/svelte, which need their frameworks: the samples of the docs are compiled.
export * as page from 'tabserve';
export * as worker from 'tabserve/worker';
export * as pageCore from 'tabserve/core';
export * as core from 'tabserve/worker/core';
export * as a from 'tabserve/engines/onnx-wasm';
export * as b from 'tabserve/engines/onnx-webgl';
export * as c from 'tabserve/engines/onnx-webgpu';
export * as d from 'tabserve/engines/tfjs-webgpu';
export * as e from 'tabserve/engines/tfjs-webgl';
export * as f from 'tabserve/engines/tfjs-wasm';
export * as g from 'tabserve/engines/tfjs-cpu';
export * as remote from 'tabserve/engines/remote-http';
export * as webnn from 'tabserve/engines/onnx-webnn';
export * as h from 'tabserve/standalone';
export * as i from 'tabserve/standalone/worker';
export * as j from 'tabserve/vite';
export * as k from 'tabserve/react';
export * as l from 'tabserve/ai-sdk';
export * as m from 'tabserve/pipeline';
export * as n from 'tabserve/prompt-api';
export * as o from 'tabserve/serving';
export * as p from 'tabserve/service-worker';
export * as q from 'tabserve/devtools';
