import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Go types that encode themselves in their own way. */
export type Special =
  | 'time'
  | 'microtime'
  | 'duration'
  | 'fields'
  | 'json'
  | 'quantity'
  | 'int-or-string'
  | 'raw'
  | 'props-or-array'
  | 'props-or-bool'
  | 'props-or-strings';

/**
 * A field as generate/ wrote it. `t` is the type: s string, b bool, i int32, l int64, n double, y bytes, * anything,
 * #N a struct, eN an enum, [] list, w[] list that protobuf wraps, {} map, all of them after `@N;` when the Go type has
 * the name aliases[N], as has a map's key within its braces. `x` are flags: r required, o omitempty,
 * z omitzero, * pointer, I inlined, T TypeMeta, c described, h hidden from OpenAPI.
 */
export interface RawField {
  readonly n: string;
  readonly t: string;
  /** Protobuf field number. */
  readonly p?: number;
  readonly x?: string;
  /** +default */
  readonly d?: unknown;
  /** patchStrategy, patchMergeKey, listType, listMapKey */
  readonly ps?: readonly string[];
  readonly pk?: string;
  readonly lt?: 'atomic' | 'set' | 'map';
  readonly lk?: readonly string[];
  /** mapType or structType */
  readonly m?: 'atomic' | 'granular';
}

export interface RawType {
  readonly s?: Special;
  /** structType */
  readonly m?: 'atomic' | 'granular';
  /** union: the discriminator, and the value of it that selects each field */
  readonly u?: { readonly d: string; readonly f: Readonly<Record<string, string>> };
  readonly f?: readonly RawField[];
}

export interface TypeTable {
  /** Published names, in step with `types`. */
  readonly names: readonly string[];
  readonly enums: readonly (readonly string[])[];
  /** Go's names of types that are no structs: `v1.Capability`. */
  readonly aliases: readonly string[];
  readonly types: readonly RawType[];
  /** `apps/v1/Deployment` (core: `/v1/Pod`) to the index of its type. */
  readonly kinds: Readonly<Record<string, number>>;
}

let loaded: TypeTable | undefined;

/** The generated table of every published Kubernetes API type, read at first use. */
export function typeTable(): TypeTable {
  loaded ??= JSON.parse(
    gunzipSync(readFileSync(new URL('./generated/types.json.gz', import.meta.url))).toString('utf8'),
  ) as TypeTable;
  return loaded;
}
