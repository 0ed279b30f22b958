import type { IncomingHttpHeaders, Server } from 'node:http';

export interface TensorValues {
  name: string;
  datatype: string;
  shape: number[];
  values: (number | bigint | boolean)[];
}

export interface ServedModel {
  inputs: Omit<TensorValues, 'values'>[];
  outputs: Omit<TensorValues, 'values'>[];
  run(inputs: TensorValues[]): TensorValues[] | Promise<TensorValues[]>;
}

export interface ProtocolServer extends Server {
  /** The requests. */
  readonly seen: { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }[];
  /** The most requests that were under way at once. */
  most: number;
}

export function createProtocolServer(models: Record<string, ServedModel>): ProtocolServer;
