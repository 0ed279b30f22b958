import { orElse, Undefined, type Value } from './values.js';

/** The variables of a block. What it does not have is looked up in the blocks around it. */
export class Scope {
  /** Made with the first variable: many blocks have none. */
  #own: Map<string, Value> | undefined;

  constructor(private readonly outer: Scope | ReadonlyMap<string, Value>) {}

  get(name: string): Value {
    return orElse(this.find(name), () => new Undefined(`'${name}' is undefined`));
  }

  find(name: string): Value | undefined {
    const own = this.#own?.get(name);
    if (own !== undefined) return own;
    return this.outer instanceof Scope ? this.outer.find(name) : this.outer.get(name);
  }

  set(name: string, value: Value): void {
    this.#own ??= new Map();
    this.#own.set(name, value);
  }
}
