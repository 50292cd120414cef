import type { GroupVersionKind } from '../gvk.ts';

/** A resource below another: `status`, `scale`, `eviction`. Its kind may come from another group. */
export interface SubresourceInfo extends GroupVersionKind {
  readonly name: string;
  readonly verbs: readonly string[];
}

/** One resource in one served version, as discovery announces it. */
export interface ResourceInfo extends GroupVersionKind {
  readonly resource: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly SubresourceInfo[];
  /** The version in which the registry keeps the object, whichever version a request names. */
  readonly storageVersion: string;
  /** See KindInfo. */
  readonly statusWithRest?: boolean;
  /** Nobody but controllers of the server write it, each its own part: nothing is noted in managedFields. */
  readonly unmanaged?: boolean;
}
