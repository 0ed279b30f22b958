import type { Clock } from '../shared/clock.js';
import { wrongValue } from '../shared/read-options.js';
import type { Registry } from './registry.js';
import type { ServedRequestOptions } from './served-client.js';
import type { ServedVersion, Traffic } from './served-version.js';
import { Shadow, type ShadowOptions } from './shadow.js';

/** Runs the requests of a server on its versions, and lets the shadows follow: at most one for each model. */
export class Shadows {
  readonly #registry: Registry;
  readonly #world: { readonly clock: Clock; readonly traffic: Traffic };
  readonly #shadows = new Map<string, Shadow>();

  constructor(registry: Registry, world: { readonly clock: Clock; readonly traffic: Traffic }) {
    this.#registry = registry;
    this.#world = world;
  }

  /** Predicts one input. If the version is its model's default, the model's shadow gets it too. */
  predict(served: ServedVersion, input: unknown, options: ServedRequestOptions): Promise<unknown> {
    const { name, version, client } = served.options;
    const answer = client.predict(input, options);
    const shadow = this.#shadows.get(name);
    if (shadow && shadow.version !== version && this.#registry.isDefault(served)) shadow.follow(input, options, answer);
    return answer;
  }

  /** Starts a shadow, which ends the model's earlier one. @throws `model-not-found`, `invalid-input` */
  start(name: string, version: string, { share = 1 }: ShadowOptions): Shadow {
    if (!(typeof share === 'number' && share >= 0 && share <= 1)) throw wrongValue('share', 'a number in 0..1', share);
    const find = (): ServedVersion => this.#registry.find(name, version);
    find();
    this.#shadows.get(name)?.stop();
    const shadow = new Shadow({ name, version, share }, { ...this.#world, find });
    this.#shadows.set(name, shadow);
    return shadow;
  }

  /** Ends the shadow that a version is, and that of a model of which it was the last version. */
  forget({ options: { name, version } }: ServedVersion): void {
    const shadow = this.#shadows.get(name);
    if (shadow?.version !== version && this.#registry.names.includes(name)) return;
    shadow?.stop();
    this.#shadows.delete(name);
  }

  stopAll(): void {
    for (const shadow of this.#shadows.values()) shadow.stop();
  }
}
