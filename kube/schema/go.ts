import type { GroupVersionKind } from '../gvk.ts';
import { type RawField, type RawType, type Special, typeTable } from './table.ts';

/** The shape of a Go value, between the generated table and what the codecs and builders make of it. */
export type GoShape = Shape & {
  /** Of a named type that is no struct: `v1.Capability`. */ readonly alias?: string;
};

type Shape =
  | { readonly kind: 'struct'; readonly struct: GoStruct }
  /** `wrapped`: protobuf carries the list as a message with field 1. */
  | { readonly kind: 'list'; readonly items: GoShape; readonly wrapped: boolean }
  /** `keys`: the name of the keys' type, where it is not `string`. */
  | { readonly kind: 'map'; readonly values: GoShape; readonly keys?: string }
  | { readonly kind: 'string'; readonly enum?: readonly string[] }
  | { readonly kind: 'bool' | 'int32' | 'int64' | 'double' | 'bytes' | 'any' };

export interface GoField {
  /** Empty for an inlined struct, whose fields appear in its parent's JSON. */
  readonly name: string;
  readonly shape: GoShape;
  readonly tag: number | undefined;
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly inline: boolean;
  readonly required: boolean;
  readonly raw: RawField;
}

/** A Go struct; `fields` is computed at first use, so that types may refer to themselves. */
export class GoStruct {
  readonly name: string;
  readonly special: Special | undefined;
  readonly raw: RawType;
  /** It carries apiVersion and kind. */
  readonly typed: boolean;
  #fields: readonly GoField[] | undefined;

  constructor(name: string, raw: RawType) {
    this.name = name;
    this.raw = raw;
    this.special = raw.s;
    this.typed = raw.f?.some((f) => f.x === 'T') ?? false;
  }

  get fields(): readonly GoField[] {
    this.#fields ??= (this.raw.f ?? []).filter((f) => f.x !== 'T').map(toField);
    return this.#fields;
  }
}

const structs: (GoStruct | undefined)[] = [];

function structAt(index: number): GoStruct {
  const { names, types } = typeTable();
  let struct = structs[index];
  if (struct === undefined) {
    struct = new GoStruct(names[index] ?? '', types[index] ?? {});
    structs[index] = struct;
  }
  return struct;
}

const letters: Readonly<Record<string, GoShape>> = {
  s: { kind: 'string' },
  b: { kind: 'bool' },
  i: { kind: 'int32' },
  l: { kind: 'int64' },
  n: { kind: 'double' },
  y: { kind: 'bytes' },
  '*': { kind: 'any' },
};

const named = /^@(\d+);/;

function aliasAt(index: string | undefined): string {
  return typeTable().aliases[Number(index)] ?? '';
}

function toShape(text: string): GoShape {
  const name = named.exec(text);
  if (name) return { ...toShape(text.slice(name[0].length)), alias: aliasAt(name[1]) };
  if (text.startsWith('#')) return { kind: 'struct', struct: structAt(Number(text.slice(1))) };
  if (text.startsWith('e')) {
    return { kind: 'string', enum: typeTable().enums[Number(text.slice(1))] ?? [] };
  }
  if (text.startsWith('[]')) return { kind: 'list', items: toShape(text.slice(2)), wrapped: false };
  if (text.startsWith('w[]')) return { kind: 'list', items: toShape(text.slice(3)), wrapped: true };
  if (text.startsWith('{}')) return { kind: 'map', values: toShape(text.slice(2)) };
  const map = /^\{@(\d+);\}/.exec(text);
  if (map) return { kind: 'map', values: toShape(text.slice(map[0].length)), keys: aliasAt(map[1]) };
  const letter = letters[text];
  if (letter === undefined) throw new Error(`the type table has an unknown type ${text}`);
  return letter;
}

function toField(raw: RawField): GoField {
  const flags = raw.x ?? '';
  return {
    name: raw.n,
    shape: toShape(raw.t),
    tag: raw.p,
    pointer: flags.includes('*'),
    omitEmpty: flags.includes('o'),
    omitZero: flags.includes('z'),
    inline: flags.includes('I'),
    required: flags.includes('r'),
    raw,
  };
}

/** Kinds of meta.k8s.io that every group version knows: DeleteOptions, Status, WatchEvent, List … */
const metaGroup = 'meta.k8s.io/v1/';

/** The Go struct of a kind of any published version, served or not. */
export function structOf(group: string, version: string, kind: string): GoStruct | undefined {
  const { kinds } = typeTable();
  const key = `${group}/${version}/${kind}`;
  if (Object.hasOwn(kinds, key)) return structAt(kinds[key] ?? 0);
  const shared = metaGroup + kind;
  if (Object.hasOwn(kinds, shared)) return structAt(kinds[shared] ?? 0);
  // The one kind whose type does not carry apiVersion and kind.
  return kind === 'WatchEvent' ? structNamed('io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent') : undefined;
}

let kindNames: Map<string, GroupVersionKind> | undefined;

/** The kind that a struct is, undefined for structs that are only parts of kinds. */
export function kindOf(struct: GoStruct): GroupVersionKind | undefined {
  if (kindNames === undefined) {
    const { kinds, names } = typeTable();
    kindNames = new Map();
    for (const [key, index] of Object.entries(kinds)) {
      const [group = '', version = '', kind = ''] = key.split('/');
      kindNames.set(names[index] ?? '', { group, version, kind });
    }
  }
  return kindNames.get(struct.name);
}

let byName: Map<string, number> | undefined;

/** The struct with a published name such as `io.k8s.api.core.v1.PodSpec`. */
export function structNamed(name: string): GoStruct | undefined {
  byName ??= new Map(typeTable().names.map((n, index) => [n, index]));
  const index = byName.get(name);
  return index === undefined ? undefined : structAt(index);
}
