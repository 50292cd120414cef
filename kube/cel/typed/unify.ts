import { type CelType, dyn, formatType, listOf, mapOf, opaque, sameType, sizeOf, typeOf } from './types.ts';

/** Of one expression. */
const mostSteps = 500_000;

/** What type parameters stand for, by the parameters' names; what was tried in vain is taken back. */
export class Bindings {
  readonly #types = new Map<string, CelType>();
  #tried: [string, CelType | undefined][] = [];
  #steps = 0;

  /** False: parameters stand for parameters so often that no more is looked at; whatever is left fits, and may be anything. */
  goesOn(steps = 1): boolean {
    this.#steps += steps;
    return this.#steps <= mostSteps;
  }

  /** How many types were looked at. */
  get steps(): number {
    return this.#steps;
  }

  get(name: string): CelType | undefined {
    return this.#types.get(name);
  }

  set(name: string, type: CelType): void {
    this.#tried.push([name, this.#types.get(name)]);
    this.#types.set(name, type);
  }

  /** Whether values of the types can be assigned to one another; binds the parameters for which they can. */
  assign(a: readonly CelType[], b: readonly CelType[]): boolean {
    this.#tried = [];
    if (listsFit(this, a, b)) return true;
    for (const [name, before] of this.#tried.reverse()) {
      if (before) this.#types.set(name, before);
      else this.#types.delete(name);
    }
    return false;
  }
}

const isDyn = ({ kind }: CelType) => kind === 'dyn';
const isDynOrError = ({ kind }: CelType) => kind === 'dyn' || kind === 'error';

function listsFit(m: Bindings, a: readonly CelType[], b: readonly CelType[]): boolean {
  return a.length === b.length && a.every((one, i) => fits(m, one, b[i] as CelType));
}

function fits(m: Bindings, a: CelType, b: CelType): boolean {
  if (!m.goesOn()) return true;
  if (b.kind === 'param') {
    const found = substitutes(m, a, b);
    if (found.valid) return true;
    if (found.bound) return false;
  }
  if (a.kind === 'param') return substitutes(m, b, a).valid;
  if (isDynOrError(a) || isDynOrError(b)) return true;
  if (a.kind === 'null_type') return nullable(b);
  if (b.kind === 'null_type') return nullable(a);
  if (a.kind === 'type') return b.kind === 'type';
  return a.kind === b.kind && a.name === b.name && listsFit(m, a.params, b.params);
}

function nullable({ kind }: CelType): boolean {
  return ['opaque', 'struct', 'duration', 'timestamp', 'null_type'].includes(kind);
}

function substitutes(m: Bindings, type: CelType, parameter: CelType): { valid: boolean; bound: boolean } {
  if (sameType(type, parameter)) return { valid: true, bound: true };
  const known = m.get(parameter.name);
  if (known) {
    if (!m.goesOn(sizeOf(type))) return { valid: true, bound: true };
    if (sameType(type, known)) return { valid: true, bound: true };
    if (!fits(m, type, known)) return { valid: false, bound: true };
    const general = mostGeneral(type, known);
    if (!refersTo(m, general, parameter)) m.set(parameter.name, general);
    return { valid: true, bound: true };
  }
  if (refersTo(m, type, parameter)) return { valid: false, bound: false };
  m.set(parameter.name, type);
  return { valid: true, bound: false };
}

export function mostGeneral(a: CelType, b: CelType): CelType {
  return lessSpecific(a, b) ? a : b;
}

function lessSpecific(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === 'type') return true;
  if (!['opaque', 'list', 'map'].includes(a.kind)) return sameType(a, b);
  return (
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((one, i) => lessSpecific(one, b.params[i] as CelType))
  );
}

function refersTo(m: Bindings, type: CelType, parameter: CelType): boolean {
  if (!m.goesOn()) return false;
  if (sameType(type, parameter)) return true;
  if (type.kind === 'param') {
    const known = m.get(type.name);
    return known !== undefined && refersTo(m, known, parameter);
  }
  return type.params.some((one) => refersTo(m, one, parameter));
}

/** What a parameter stands for by way of others; these may be many. */
function boundTo(m: Bindings, parameter: CelType): CelType {
  let type = parameter;
  while (type.kind === 'param' && m.goesOn()) {
    const known = m.get(type.name);
    if (!known) return type;
    type = known;
  }
  return type;
}

/** The type with its parameters replaced by what they stand for; those that stand for nothing become dyn if asked. */
export function substitute(m: Bindings, type: CelType, freeToDyn = false): CelType {
  if (type.kind !== 'param' && type.params.length === 0) return type;
  if (!m.goesOn()) return dyn;
  if (type.kind === 'param') {
    const known = boundTo(m, type);
    if (known.kind !== 'param') return substitute(m, known, freeToDyn);
    return freeToDyn ? dyn : known;
  }
  const [first = dyn, second = dyn, ...rest] = type.params.map((one) => substitute(m, one, freeToDyn));
  if (type.kind === 'list') return listOf(first);
  if (type.kind === 'map') return mapOf(first, second);
  if (type.kind === 'type') return typeOf(first);
  if (type.kind === 'opaque')
    return opaque(type.name, first, ...(type.params.length > 1 ? [second, ...rest] : []));
  throw new Error(`parameters of ${formatType(type)}`);
}
