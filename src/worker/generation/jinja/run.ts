/** Runs the blocks of a template. */
import type { Body, Filters, Routine, Statement, Target } from './ast.js';
import { callValue } from './attributes.js';
import { isTrue, iterate } from './compare.js';
import { failure } from './errors.js';
import { Evaluator } from './evaluate.js';
import { Loop } from './loop.js';
import { toText } from './print.js';
import { Scope } from './scope.js';
import { Callable, Dict, Namespace, orElse, Tuple, Undefined, type Arguments, type Value } from './values.js';

/** How a body ended: to its end, or by a block that leaves it. */
type End = 'break' | 'continue' | undefined;

/** Runs one rendering. */
export class Renderer extends Evaluator {
  /** Returns the text of a body. */
  text(body: Body, scope: Scope): string {
    const out: string[] = [];
    this.#run(body, scope, out);
    return out.join('');
  }

  #run(body: Body, scope: Scope, out: string[]): End {
    for (const statement of body) {
      const end = this.#statement(statement, scope, out);
      if (end) return end;
    }
    return undefined;
  }

  #write(text: string, out: string[]): void {
    this.budget.make(text.length);
    out.push(text);
  }

  #statement(statement: Statement, scope: Scope, out: string[]): End {
    this.budget.step();
    switch (statement.type) {
      case 'data':
        this.#write(statement.text, out);
        return undefined;
      case 'print':
        this.#write(toText(this.value(statement.value, scope), this.budget), out);
        return undefined;
      case 'set':
        assign(statement.target, this.value(statement.value, scope), scope);
        return undefined;
      case 'set-block': {
        const text = this.text(statement.body, new Scope(scope));
        assign(statement.target, this.#filtered(text, statement.filters, scope), scope);
        return undefined;
      }
      case 'if': {
        const branch = statement.branches.find(([test]) => isTrue(this.value(test, scope)));
        return this.#run(branch ? branch[1] : statement.otherwise, scope, out);
      }
      case 'for':
        return this.#loop(statement, this.value(statement.of, scope), scope, out, 0);
      case 'break':
      case 'continue':
        return statement.type;
      case 'macro':
        scope.set(statement.routine.name, this.#macro(statement.routine, scope));
        return undefined;
      case 'call': {
        const given = this.args(statement.given, scope);
        const named = new Map([...given.named, ['caller', this.#macro(statement.routine, scope)]]);
        const macro = this.value(statement.of, scope);
        this.#write(toText(callValue(macro, { args: given.args, named }, this.budget), this.budget), out);
        return undefined;
      }
      case 'filter': {
        const text = this.text(statement.body, new Scope(scope));
        this.#write(toText(this.#filtered(text, statement.filters, scope), this.budget), out);
        return undefined;
      }
      case 'with': {
        const inner = new Scope(scope);
        for (const [target, value] of statement.values) assign(target, this.value(value, scope), inner);
        return this.#run(statement.body, inner, out);
      }
    }
  }

  #filtered(text: string, filters: Filters, scope: Scope): Value {
    return filters.reduce<Value>((value, { name, given }) => this.filter(name, value, given, scope), text);
  }

  #loop(statement: Statement & { readonly type: 'for' }, of: Value, scope: Scope, out: string[], depth: number): End {
    const again = (more: Value): Value => {
      const inner: string[] = [];
      this.budget.nested(() => this.#loop(statement, more, scope, inner, depth + 1));
      return inner.join('');
    };
    const loop = new Loop(this.#itemsOf(statement, of, scope), statement.isRecursive ? again : undefined, depth);
    // As in Jinja, the `else` block also runs if every turn ended with `break` or `continue`.
    let isComplete = false;
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      const inner = new Scope(scope);
      inner.set('loop', loop.value);
      assign(statement.target, item, inner);
      const end = this.#run(statement.body, inner, out);
      if (end === 'break') break;
      isComplete ||= end === undefined;
    }
    return isComplete ? undefined : this.#run(statement.otherwise, new Scope(scope), out);
  }

  /** Yields what a loop runs on. */
  *#itemsOf({ target, test }: Statement & { readonly type: 'for' }, of: Value, scope: Scope): Generator<Value> {
    for (const item of iterate(of)) {
      this.budget.step();
      if (test) {
        const inner = new Scope(scope);
        assign(target, item, inner);
        if (!isTrue(this.value(test, inner))) continue;
      }
      yield item;
    }
  }

  #macro(routine: Routine, scope: Scope): Callable {
    const { name, parameters } = routine;
    return new Callable(
      name,
      (given) => this.text(routine.body, this.#scopeOf(routine, given, scope)),
      (attribute) =>
        attribute === 'name'
          ? name
          : attribute === 'arguments'
            ? Tuple.with(parameters.map((one) => one.name))
            : undefined,
    );
  }

  /** Returns the variables of a macro's body: its parameters, and what else it was given. */
  #scopeOf({ name, parameters, uses }: Routine, { args, named }: Arguments, outer: Scope): Scope {
    const scope = new Scope(outer);
    const rest = new Map(named);
    for (const [at, { name: parameter, byDefault }] of parameters.entries()) {
      const value = at < args.length ? args[at] : rest.get(parameter);
      if (at < args.length && rest.has(parameter)) throw failure(`macro '${name}' got two values for '${parameter}'`);
      rest.delete(parameter);
      const other = (): Value =>
        byDefault ? this.value(byDefault, scope) : new Undefined(`parameter '${parameter}' was not provided`);
      scope.set(parameter, orElse(value, other));
    }
    if (parameters.some((one) => one.name === 'caller')) rest.delete('caller');
    else if (uses.has('caller'))
      scope.set(
        'caller',
        orElse(rest.get('caller'), () => new Undefined('No caller defined')),
      );
    else if (rest.has('caller'))
      throw failure(`macro '${name}' was invoked with two values for the special caller argument`);
    rest.delete('caller');
    if (uses.has('varargs')) scope.set('varargs', Tuple.with(args.slice(parameters.length)));
    else if (args.length > parameters.length)
      throw failure(`macro '${name}' takes not more than ${parameters.length} argument(s)`);
    if (uses.has('kwargs')) scope.set('kwargs', new Dict(rest));
    else if (rest.size > 0) throw failure(`macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`);
    return scope;
  }
}

function assign(target: Target, value: Value, scope: Scope): void {
  switch (target.type) {
    case 'name':
      scope.set(target.name, value);
      return;
    case 'attribute': {
      const owner = scope.get(target.of);
      if (!(owner instanceof Namespace)) throw failure('cannot assign attribute on non-namespace object');
      owner.attributes.set(target.name, value);
      return;
    }
    case 'tuple': {
      const items = [...iterate(value)];
      if (items.length !== target.items.length)
        throw failure(`expected ${target.items.length} values to unpack, got ${items.length}`);
      target.items.forEach((one, at) => assign(one, items[at]!, scope));
    }
  }
}
