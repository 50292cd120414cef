import type { Overload } from './functions.ts';
import { type CelType, dyn, formatType, param } from './types.ts';
import { Bindings, substitute } from './unify.ts';

/** Of one expression: what its type parameters turn out to be, as its parts are looked at. */
export class Inference {
  readonly #bindings = new Bindings();
  #free = 0;

  fresh(): CelType {
    return param(`_var${this.#free++}`);
  }

  /** The type as far as it is known by now; what stays unknown becomes dyn if asked. */
  known(type: CelType, freeToDyn = false): CelType {
    return substitute(this.#bindings, type, freeToDyn);
  }

  get steps(): number {
    return this.#bindings.steps;
  }

  /** Whether the types go together; parameters are bound so that they do. */
  assign(a: CelType, b: CelType): boolean {
    return this.assignAll([a], [b]);
  }

  assignAll(a: readonly CelType[], b: readonly CelType[]): boolean {
    return this.#bindings.assign(a, b);
  }

  /** The overloads that arguments of these types fit, and what they give; dyn when they give several types. */
  resolve(
    overloads: readonly Overload[],
    given: readonly CelType[],
  ): { matching: Overload[]; result?: CelType } {
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      const { args, result: own } = this.#instance(overload);
      if (!this.assignAll(given, args)) continue;
      matching.push(overload);
      const type = this.known(own);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && formatType(type) !== formatType(result)) result = dyn;
    }
    return { matching, ...(result && { result }) };
  }

  /** With type parameters of its own, not those of another call. */
  #instance({ args, result }: Overload): { args: CelType[]; result: CelType } {
    const own = new Map<string, CelType>();
    const renamed = (type: CelType): CelType => {
      if (type.kind === 'param') {
        const known = own.get(type.name) ?? this.fresh();
        own.set(type.name, known);
        return known;
      }
      return type.params.length === 0 ? type : { ...type, params: type.params.map(renamed) };
    };
    return { args: args.map(renamed), result: renamed(result) };
  }
}
