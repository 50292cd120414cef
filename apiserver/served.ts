import type { KubeObject } from '../kube/object.ts';
import type { ResourceInfo } from '../kube/schema/resource.ts';
import type { Schema } from '../kube/schema/schema.ts';
import type { StatusCause } from '../kube/status.ts';
import type { ColumnDefinition } from '../kube/table/index.ts';
import type { ScalePaths } from '../kube/validation/custom/scale.ts';
import type { ClientConfig } from './webhook/reference.ts';

/** A resource that is served: a built-in, one of ours, or a custom resource of one logical cluster. */
export interface ServedResource {
  info: ResourceInfo;
  /** Of the stored version; `{type: 'any'}` when nothing is known. */
  schema: Schema;
  /** Subresources beside those that the info names. */
  subresources?: { status?: boolean; scale?: ScalePaths };
  columns?: readonly CustomColumn[];
  /** The logical cluster it is served in; absent: in all of them. */
  cluster?: string;
  /** True for a CRD with several versions: what is stored may still say another version. */
  manyVersions?: boolean;
  /** Of its definition, where it has one: another of the same name is another. */
  definitionUid?: string | undefined;
  /** True while its definition is going, and its objects before it. */
  isEnding?: boolean;
  /** True for kinds that come from outside the built-in table: items of a list keep kind and apiVersion. */
  custom?: boolean;
  /** The published OpenAPI v3 schema, for kinds that are not built in. */
  openapi?: unknown;
  /** What every request to the version is warned of. */
  deprecation?: string | undefined;
  /** Of its lists, where that is not the kind and `List`. */
  listKind?: string;
  /** JSON paths such as `.spec.color` that field selectors may use. */
  selectableFields?: readonly string[];
  /**
   * Without nulls that have no place, and with the metadata of resources inside read; `error` tells what cannot be. Of a
   * custom resource as it is read, from a client or from the store. Changes its argument.
   */
  coerce?(object: KubeObject): { object: KubeObject; error?: string };
  defaults?(object: KubeObject): KubeObject;
  /** Of a custom resource: what was stored by an older definition is read by this one (registry/defined.ts). */
  definition?: Definition;
  /** Of a definition whose versions differ, or a webhook converts: what is stored is in the version that it names. */
  conversion?: Conversion;
  /** What is wrong with it, and was before, goes to `warn`. */
  validate?(
    object: KubeObject,
    old: KubeObject | undefined,
    subresource: string,
    warn?: (text: string) => void,
  ): StatusCause[];
}

export interface CustomColumn extends ColumnDefinition {
  jsonPath: string;
  /** In place of what is at jsonPath. */
  compute?(object: KubeObject): string;
}

/** Of which revision on what is stored was written by a definition as it is, and what older bytes are by it. */
interface Definition {
  since: number;
  readonly forms: WeakMap<Uint8Array, Uint8Array>;
}

/** What converts between the versions of a definition. */
export interface Conversion {
  /** The definition's name. */
  name: string;
  /** Of the definition that says so. */
  revision: number;
  storageVersion: string;
  reviewVersions: readonly string[];
  /** Of the webhook; none: an object in another version is the same under that name, as far as its schema has it. */
  config?: ClientConfig;
  /** All of the definition, served or not. */
  versions: ReadonlyMap<string, ServedResource>;
}
