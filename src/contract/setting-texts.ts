import type {
  ClientSettings,
  FrameSettings,
  OverHttp,
  RequestSettings,
  SequenceSettings,
  Serving,
} from './settings.js';

type SettingName = keyof (Serving & ClientSettings & RequestSettings & SequenceSettings & FrameSettings & OverHttp);

/** A description of each setting, for the docs. */
export const SETTING_TEXTS: Readonly<Record<SettingName, string>> = {
  minWorkers: 'Workers that stay ready on WASM, as far as the page has cores for them. On a GPU there is one.',
  maxWorkers: 'The maximum number of workers on WASM, while requests wait. On a GPU there is one.',
  batchSize: 'The maximum number of requests that run together.',
  maxBatchDelay:
    'Milliseconds, from its arrival, for which a request waits for others to join its batch. With 0, a batch is what arrived while the worker was busy.',
  jobQueueSize: 'Requests that may wait. The next one is refused with `queue-full`.',
  responseTimeout: 'Seconds for which a worker may run a batch without a heartbeat. Then it is replaced.',
  startupTimeout:
    'Seconds for which a worker may start without a heartbeat. After that it is ended. Bytes that arrive are a heartbeat.',
  measureBudget: "Milliseconds that `prefer: 'fastest'` may take beyond opening the first backend.",
  maxRetryTimeoutInSec:
    "Seconds for which the client tries to replace a lost worker. Then every request fails, until `initialize` is called again. The name and the default are TorchServe's.",
  maxRuns:
    'Batches after which a worker is replaced in the background. Without it, no count of batches replaces a worker.',
  maxMemory:
    'Bytes, of WebAssembly memory or of tensors on a GPU, above which a worker is replaced in the background: WebAssembly memory never shrinks. A worker that is above the limit after its first batch is not replaced. Without it, no amount of memory replaces a worker.',
  timeout:
    'Milliseconds after which the request is rejected with `timeout`. What a worker runs already is discarded. Without it, a request waits for its answer.',
  priority: 'Requests of a higher priority run first.',
  idleTimeout:
    'Milliseconds between two requests after which the sequence ends. Without it, a sequence ends with `end` or with its client.',
  clientTimeoutInMills:
    "Milliseconds after which a request over HTTP is answered with 408; 0 for the server's own limit.",
  maxNumSequence: 'The maximum number of sequences over HTTP that are open. The next one is answered with 503.',
  maxSequenceJobQueueSize:
    'The maximum number of requests over HTTP of one sequence that wait. The next one is answered with 503.',
  sequenceMaxIdleMSec: 'Milliseconds without a request after which a sequence over HTTP ends; 0 for no limit.',
  sequenceTimeoutMSec: 'Milliseconds after which a sequence over HTTP ends in any case; 0 for no limit.',
  fps: 'The maximum number of frames per second that are sent to the model. Without it, each frame that arrives while a worker is free.',
};
