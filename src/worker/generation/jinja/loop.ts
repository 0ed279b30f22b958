import { needed } from './arguments.js';
import { isEqual } from './compare.js';
import { failure } from './errors.js';
import { Callable, orElse, Undefined, type Value } from './values.js';

/** What the variable `loop` is in a loop. */
export class Loop {
  index = 0;
  #last: readonly Value[] | undefined;
  readonly value: Callable;

  /**
   * @param again runs the loop's body on other items; undefined if the loop is not recursive
   * @param depth how many loops of the same recursion are around it
   */
  constructor(
    private readonly items: readonly Value[],
    again: ((items: Value) => Value) | undefined,
    private readonly depth: number,
  ) {
    this.value = new Callable(
      'loop',
      ({ args }) => {
        if (!again) throw failure("The loop must have the 'recursive' marker to be called recursively.");
        return again(needed(args[0]));
      },
      (name) => this.#attribute(name),
    );
  }

  #attribute(name: string): Value | undefined {
    const { index, items } = this;
    switch (name) {
      case 'index':
        return BigInt(index + 1);
      case 'index0':
        return BigInt(index);
      case 'revindex':
        return BigInt(items.length - index);
      case 'revindex0':
        return BigInt(items.length - index - 1);
      case 'first':
        return index === 0;
      case 'last':
        return index === items.length - 1;
      case 'length':
        return BigInt(items.length);
      case 'depth':
        return BigInt(this.depth + 1);
      case 'depth0':
        return BigInt(this.depth);
      case 'previtem':
        return index === 0 ? new Undefined('there is no previous item') : items[index - 1]!;
      case 'nextitem':
        return orElse(items[index + 1], () => new Undefined('there is no next item'));
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
