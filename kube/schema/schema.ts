/**
 * The shape of one value, as merging, strict decoding, apply and protobuf need it. Built-in kinds get theirs
 * from the generated table (kube/schema/builtin.ts), custom resources from their CRD.
 */
export type Schema =
  | ObjectSchema
  | MapSchema
  | ListSchema
  | {
      readonly type: 'string';
      readonly format?: 'byte' | 'date-time' | 'quantity';
      readonly enum?: readonly string[];
    }
  | { readonly type: 'integer'; readonly format: 'int32' | 'int64' }
  | { readonly type: 'number' }
  | { readonly type: 'boolean' }
  | { readonly type: 'int-or-string' }
  /**
   * Anything at all. Atomic: owned and replaced as a whole (RawExtension, JSON, FieldsV1). Known: what it is where it turns out to
   * be an object.
   */
  | { readonly type: 'any'; readonly atomic?: boolean; readonly known?: ObjectSchema | MapSchema };

export interface ObjectSchema {
  readonly type: 'object';
  /** The Go type's published name, e.g. `io.k8s.api.apps.v1.DeploymentSpec`; absent for a CRD's. */
  readonly name?: string;
  /** For people, of kinds that no other text describes. */
  readonly description?: string;
  readonly fields: ReadonlyMap<string, Field>;
  /** True where unknown fields are kept (x-kubernetes-preserve-unknown-fields). */
  readonly open?: boolean;
  /** True where applying takes fields that are not known, though pruning drops them. */
  readonly loose?: boolean;
  /** Of an object inside another (x-kubernetes-embedded-resource), which applying takes as it comes: what it is pruned by. */
  readonly embedded?: ObjectSchema;
  /** True for +structType=atomic: apply owns it as one leaf. */
  readonly atomic?: boolean;
}

export interface MapSchema {
  readonly type: 'map';
  readonly values: Schema;
  readonly atomic?: boolean;
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: Schema;
  /** Server-side apply's view; absent means atomic. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
}

/** One field of an object. The patch tags are strategic merge patch's; they belong to the field, not its type. */
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** For people, of kinds that no other text describes. */
  readonly description?: string;
  readonly required?: boolean;
  readonly default?: unknown;
  /** `merge`, `replace`, `retainKeys`, in any mix. */
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  /** Protobuf field number; absent for fields that only JSON carries. */
  readonly tag?: number;
  /** A Go pointer: it tells null and absent from the zero value. */
  readonly pointer?: boolean;
  /** What the API writes when nothing set the field: '' or 0 or {} or null; absent where it writes nothing. */
  readonly zero?: string | number | boolean | null | Readonly<Record<string, never>>;
}
