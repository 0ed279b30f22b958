import { setMaxListeners } from 'node:events';
import { Client } from '../client/client.js';
import type { RequestOptions } from '../client/options.js';

/** A client whose requests at once may share a signal. Each listens to it, and Node warns of a leak when a signal has more than ten listeners. */
export class NodeClient extends Client {
  override async predict(input: never, options?: RequestOptions): Promise<never> {
    return (await super.predict(input, unlimited(options))) as never;
  }

  override async handle(inputs: never, options?: RequestOptions): Promise<never> {
    return (await super.handle(inputs, unlimited(options))) as never;
  }

  override async infer(inputs: never, options?: RequestOptions): Promise<never> {
    return (await super.infer(inputs, unlimited(options))) as never;
  }

  override async explain(input: never, options?: Parameters<Client['explain']>[1]): Promise<never> {
    return (await super.explain(input, unlimited(options))) as never;
  }
}

/** Returns options, whose signal may now have any number of listeners. They may be of any type: the client checks them. */
function unlimited<Options extends object>(options: Options | undefined): Options | undefined {
  const signal: unknown = Object.getOwnPropertyDescriptor(options ?? {}, 'signal')?.value;
  if (signal instanceof AbortSignal) setMaxListeners(0, signal);
  return options;
}
