import { expose, GraphWorkflow, type NodeFunction } from 'tabserve/worker';

export class Pets extends GraphWorkflow {
  override readonly functions: Readonly<Record<string, NodeFunction>> = {
    aggregate: (rows: readonly { readonly cats: number; readonly dogs: number }[]) =>
      rows.map(({ cats, dogs }) => (cats > dogs ? 'a cat' : 'a dog')),
  };
}

expose(Pets);
