/** Models that run on a server: the engine `remote`. */
import type { DownloadRequest } from './downloads.js';
import type { TensorInfo } from './tensors.js';

/**
 * `open-inference`: the Open Inference Protocol v2, which Triton, KServe and OpenVINO Model Server speak. `torchserve`:
 * TorchServe's inference API.
 */
export const REMOTE_PROTOCOLS = ['open-inference', 'torchserve'] as const;

/** The protocol of a server. */
export type RemoteProtocol = (typeof REMOTE_PROTOCOLS)[number];

/**
 * Which model of a server is meant, and what it takes and returns. It belongs to the archive: `engine.remote` in its
 * config.
 */
export interface RemoteModel {
  /** Its name on the server. @default the archive's modelName */
  readonly model?: string;
  /** Its version on the server. @default the server chooses */
  readonly version?: string;
  /** @default 'open-inference' */
  readonly protocol?: RemoteProtocol;
  /**
   * Whether tensors travel as bytes, by Triton's binary tensor data extension.
   * @default if the server says that it has it
   */
  readonly binary?: boolean;
  /** The model's inputs, the batch axis first: where the server does not describe its models, as TorchServe's. */
  readonly inputs?: readonly TensorInfo[];
  /** The model's outputs, the batch axis first: where the server does not describe its models. */
  readonly outputs?: readonly TensorInfo[];
}

/** The server that runs the model on the backend `remote`, and which of its models that is. */
export interface RemoteOptions extends Pick<RemoteModel, 'model' | 'version' | 'protocol' | 'binary'>, DownloadRequest {
  /**
   * Its URL, relative to the page: that below which the protocol's paths are, such as `https://models.example.org/`.
   * Headers and credentials go to its origin only, and no redirect is followed.
   */
  readonly url: string | URL;
  /** Milliseconds for which one HTTP request waits for its answer. Then the server counts as lost. @default 30000 */
  readonly timeout?: number;
}

/** The server that the app has named, and what its requests carry. They go to the URL's origin only. */
export interface RemoteServer extends DownloadRequest {
  /** Absolute, with a slash at its end. The protocol's paths are below it. */
  readonly url: string;
  /** Milliseconds for which one request waits for its answer. */
  readonly timeout: number;
  /** Whether `backends` names another one after the server: then a server that cannot be reached is not awaited. */
  readonly hasFallback?: boolean;
}
