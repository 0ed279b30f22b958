import type { ErrorCode } from './errors.js';

/** What has happened, by the error's code, for the docs. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  network: 'A file of the archive could not be downloaded.',
  'model-not-found':
    'The model, or a file that it needs, is missing: there is no such file, the server answered 404 or a page of HTML, or a picked file has changed since.',
  'model-format': 'The file is not a model, or it is damaged.',
  'model-config': "The archive's config, or an option, has a wrong value; the message names the key.",
  'unknown-handler': 'No handler has that name.',
  'backend-failed': 'A backend could not be opened.',
  'backend-wrong': 'A backend computes wrong outputs; the message has the measured error.',
  'no-backend': 'Every backend failed or was skipped; the message gives each reason, and `cause` is the last failure.',
  'invalid-input':
    'The input is invalid: its dims or dtype, an empty batch, an unusable image source, or a wrong option of the call; or the image of a URL cannot be downloaded.',
  'image-decode': 'The bytes are not an image that this browser can decode.',
  'image-too-large': 'The image has more pixels than allowed.',
  'inference-failed': 'The engine could not run the model on this input.',
  'state-lost':
    'What an earlier request has left in the worker is no longer there. The page sends the input again by itself; it cannot where `transfer` has moved another part of it.',
  'handler-failed': 'A stage of a handler threw.',
  'batch-contract': 'A stage did not return one result per row.',
  'not-cloneable': 'An input cannot be sent to the worker, or a result cannot be sent to the page.',
  'not-initialized': 'A call came before `initialize`.',
  disposed: 'A call came after `dispose`.',
  aborted: "The caller aborted; `cause` is the signal's reason.",
  timeout: "The request's `timeout` passed before its answer.",
  'queue-full': 'The queue already holds `jobQueueSize` requests.',
  'worker-failed':
    'A script of the worker or of the page could not be loaded, or the worker did not report that it is ready.',
  'worker-lost': 'The worker ended while it ran the request.',
  'device-lost': 'The GPU was lost, or the server of a model on the backend `remote`.',
  'out-of-memory': 'The engine, or the page, ran out of memory.',
  unsupported: 'Not supported here, by design.',
};
