import type { Checking } from './checking.ts';
import type { Expr, List, Struct } from './expr.ts';
import {
  type CelType,
  dyn,
  errorType,
  formatType,
  listOf,
  mapOf,
  optionalOf,
  struct,
  typeOf,
  unwrapped,
} from './types.ts';
import { mostGeneral } from './unify.ts';

/** The types of lists, maps and messages that an expression makes. */
export class Aggregates {
  readonly #checking: Checking;

  constructor(checking: Checking) {
    this.#checking = checking;
  }

  #join(before: CelType | undefined, type: CelType): CelType {
    if (!before) return type;
    // Whether literals are of one type is judged later: those given to `format` need not be.
    return this.#checking.infer.assign(before, type) ? mostGeneral(before, type) : dyn;
  }

  /** What a part marked with `?` holds. */
  #held(value: Expr, optional: boolean): CelType {
    const type = this.#checking.check(value);
    if (!optional) return type;
    const inner = unwrapped(type);
    if (!inner.optional && type.kind !== 'dyn') this.#checking.mismatch(value.offset, optionalOf(type), type);
    return inner.type;
  }

  list({ items, optional }: List): CelType {
    let type: CelType | undefined;
    for (const [i, item] of items.entries()) type = this.#join(type, this.#held(item, optional.has(i)));
    return listOf(type ?? this.#checking.infer.fresh());
  }

  map({ entries }: Struct): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of entries) {
      if (entry.key) key = this.#join(key, this.#checking.check(entry.key));
      value = this.#join(value, this.#held(entry.value, entry.optional));
    }
    return mapOf(key ?? this.#checking.infer.fresh(), value ?? this.#checking.infer.fresh());
  }

  message({ offset, entries }: Struct, name: string): CelType {
    const found = this.#checking.find(name);
    if (!found) return this.#checking.undeclared(offset, name);
    let result = errorType;
    const [inner] = found.params;
    if (found.kind !== 'type') this.#checking.report(offset, `'${formatType(found)}' is not a type`);
    else if (inner?.kind === 'struct') result = struct(inner.name);
    else this.#checking.report(offset, `'${formatType(inner ?? typeOf())}' is not a message type`);
    for (const entry of entries) {
      const type = this.#held(entry.value, entry.optional);
      const declared = this.#checking.fieldOfMessage(entry.offset, name, entry.field ?? '') ?? errorType;
      if (this.#checking.infer.assign(declared, type)) continue;
      const expected = `expected type of field '${entry.field}' is '${formatType(declared)}'`;
      this.#checking.report(entry.offset, `${expected} but provided type is '${formatType(type)}'`);
    }
    return result;
  }
}
