import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { checkGraph } from './check-graph.js';
import { checkLayers } from './check-layers.js';

/** A node of a graph model: a `NodeDef` of TensorFlow as JSON. */
export interface GraphNode {
  readonly name: string;
  readonly op: string;
  readonly input?: readonly string[];
  readonly attr?: Readonly<Record<string, GraphAttribute | undefined>>;
}

export interface GraphAttribute {
  readonly type?: string | number;
  readonly shape?: GraphShape;
  readonly list?: {
    readonly shape?: readonly GraphShape[];
    readonly type?: readonly (string | number)[];
    /** Texts, in base64. */
    readonly s?: readonly string[];
  };
}

/** A `TensorShapeProto`. Without `dim` it is a scalar, or unknown. */
export interface GraphShape {
  readonly dim?: readonly { readonly size?: string | number }[];
  readonly unknownRank?: boolean;
}

/** One input or output in a signature. */
export interface SignatureEntry {
  /** Its tensor, e.g. `serving_default_image:0`. */
  readonly name: string;
  readonly dtype?: string | number;
  readonly tensorShape?: GraphShape;
  /** Set for a lookup table that is part of the model and not a feed. */
  readonly resourceId?: number;
}

export interface GraphSignature {
  readonly inputs?: Readonly<Record<string, SignatureEntry>>;
  readonly outputs?: Readonly<Record<string, SignatureEntry>>;
}

/** `model.json`, as the converter of TensorFlow.js writes it. */
export interface ModelJson {
  readonly format?: string;
  readonly modelTopology: { readonly node?: readonly GraphNode[] } & Readonly<Record<string, unknown>>;
  readonly signature?: GraphSignature;
  readonly userDefinedMetadata?: { readonly signature?: GraphSignature } & Readonly<Record<string, unknown>>;
  readonly modelInitializer?: unknown;
  readonly initializerSignature?: unknown;
  readonly weightsManifest?: readonly { readonly paths: readonly string[]; readonly weights: readonly unknown[] }[];
}

export interface Artifacts {
  readonly model: ModelJson;
  /** The shards, in the order in which the weights follow one another. */
  readonly weightData: readonly ArrayBuffer[];
}

/**
 * Reads a model and its weights.
 * @throws `model-not-found` if a shard is missing; `model-format` if it is not a model
 */
export async function readArtifacts(files: Files, path: string): Promise<Artifacts> {
  const model = (await files.json(path)) as ModelJson | null;
  if (typeof model?.modelTopology !== 'object' || model.modelTopology === null) {
    throw new TabServeError('model-format', `${path} is no TensorFlow.js model: it has no modelTopology.`);
  }
  if (model.modelTopology.node !== undefined) checkGraph(model.modelTopology, path);
  else checkLayers(model.modelTopology, path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const shards = (model.weightsManifest ?? []).flatMap(({ paths }) => paths);
  return {
    model,
    weightData: await Promise.all(
      shards.map(async (shard) => (await files.bytes(folder + shard)).buffer as ArrayBuffer),
    ),
  };
}
