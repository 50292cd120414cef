import type { Checking } from './checking.ts';
import type { Call, Expr } from './expr.ts';
import type { Overload } from './functions.ts';
import { bool, type CelType, errorType, formatType } from './types.ts';

export interface ResolvedCall {
  name: string;
  target?: Expr;
  overloads: readonly Overload[];
}

/** Which overloads each call can be. */
export class Calls {
  readonly #checking: Checking;
  readonly #resolved = new Map<Call, ResolvedCall>();

  constructor(checking: Checking) {
    this.#checking = checking;
  }

  resolved(expr: Call): ResolvedCall | undefined {
    return this.#resolved.get(expr);
  }

  note(expr: Call, call: ResolvedCall): void {
    this.#resolved.set(expr, call);
  }

  /** What the call gives: its arguments, and what it is called on, were checked. */
  resolve(expr: Call, { name, overloads, target }: ResolvedCall): CelType {
    const { infer } = this.#checking;
    const given = [...(target ? [target] : []), ...expr.args].map((arg) => this.#checking.typeOf(arg));
    if (name === '_&&_' || name === '_||_') return this.#logical(expr, name, overloads, given);
    const styled = overloads.filter(({ member }) => member === (target !== undefined));
    const { matching, result } = infer.resolve(styled, given);
    if (result === undefined) {
      const shown = given.map((type) => formatType(infer.known(type, true)));
      const [on = '', rest] = target ? [`${shown[0]}.`, shown.slice(1)] : ['', shown];
      const what = `'${name}' applied to '${on}(${rest.join(', ')})'`;
      this.#checking.report(expr.offset, `found no matching overload for ${what}`);
      return errorType;
    }
    this.note(expr, { name, overloads: matching, ...(target && { target }) });
    return result;
  }

  #logical(expr: Call, name: string, overloads: readonly Overload[], given: readonly CelType[]): CelType {
    let sound = true;
    for (const [i, type] of given.entries()) {
      if (this.#checking.infer.assign(type, bool)) continue;
      sound = false;
      this.#checking.mismatch(expr.args[i]?.offset ?? expr.offset, bool, type);
    }
    if (!sound) return errorType;
    this.note(expr, { name, overloads });
    return bool;
  }
}
