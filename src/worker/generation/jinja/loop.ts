import { needed } from './arguments.js';
import { isEqual } from './compare.js';
import { failure } from './errors.js';
import { Callable, Undefined, type Value } from './values.js';

/** A loop: it reads its items one by one, because its body may change what chooses the next ones. */
export class Loop {
  /** What the variable `loop` is. */
  readonly value: Callable;
  readonly #source: Iterator<Value>;
  /** The items that were read: those that were looped over, and where the body asks for them, later ones. */
  readonly #items: Value[] = [];
  #index = -1;
  #last: readonly Value[] | undefined;

  /**
   * @param again runs the loop's body on other items; undefined if the loop is not recursive
   * @param depth how many loops of the same recursion are around it
   */
  constructor(
    items: Iterable<Value>,
    again: ((items: Value) => Value) | undefined,
    private readonly depth: number,
  ) {
    this.#source = items[Symbol.iterator]();
    this.value = new Callable(
      'loop',
      ({ args }) => {
        if (!again) throw failure("The loop must have the 'recursive' marker to be called recursively.");
        return again(needed(args[0]));
      },
      (name) => this.#attribute(name),
    );
  }

  /** Returns the next item; undefined at the end. */
  next(): Value | undefined {
    this.#index += 1;
    return this.#at(this.#index);
  }

  #at(index: number): Value | undefined {
    while (this.#items.length <= index) {
      const { done, value } = this.#source.next();
      if (done) return undefined;
      this.#items.push(value);
    }
    return this.#items[index];
  }

  #length(): number {
    this.#at(Infinity);
    return this.#items.length;
  }

  #attribute(name: string): Value | undefined {
    const index = this.#index;
    switch (name) {
      case 'index':
        return BigInt(index + 1);
      case 'index0':
        return BigInt(index);
      case 'revindex':
        return BigInt(this.#length() - index);
      case 'revindex0':
        return BigInt(this.#length() - index - 1);
      case 'first':
        return index === 0;
      case 'last':
        return this.#at(index + 1) === undefined;
      case 'length':
        return BigInt(this.#length());
      case 'depth':
        return BigInt(this.depth + 1);
      case 'depth0':
        return BigInt(this.depth);
      case 'previtem':
        return index === 0 ? new Undefined('there is no previous item') : this.#items[index - 1]!;
      case 'nextitem': {
        const next = this.#at(index + 1);
        return next === undefined ? new Undefined('there is no next item') : next;
      }
      case 'cycle':
        return new Callable('cycle', ({ args }) => {
          if (args.length === 0) throw failure('no items for cycling given');
          return args[index % args.length]!;
        });
      case 'changed':
        return new Callable('changed', ({ args }, budget) => {
          const last = this.#last;
          this.#last = args;
          return !last || !isEqual([...last], [...args], budget);
        });
      default:
        return undefined;
    }
  }
}
