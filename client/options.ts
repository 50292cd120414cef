import type { KubeObject } from '../kube/object.ts';
export interface ClientOptions {
  /** In front of every path, e.g. `/syncers/east`. */
  prefix?: string;
  /** The logical cluster of every call that names none; `*` reads across all. Absent: plain Kubernetes. */
  cluster?: string;
  userAgent?: string;
  fieldManager?: string;
  /** A list that is longer, over all of its pages, fails with EENDLESS; default: as long as the server goes on. */
  mostListBytes?: number;
}

export interface ListOptions<T extends KubeObject = KubeObject> {
  cluster?: string | undefined;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** Page size; all pages are read whatever it is. */
  limit?: number;
  resourceVersion?: string | undefined;
  /** Of Placements in all logical clusters: what is said of them comes beside them, not in them. See placements.ts. */
  slices?: 'apart' | undefined;
  /** What to have of each, page by page: of a long list the whole is never in memory. */
  keep?: (object: T) => T;
  signal?: AbortSignal | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'keep'> {
  /** The server ends the watch after this long. */
  timeoutSeconds?: number;
  /** Longest line of the stream, in bytes. */
  maxLine?: number;
  /** It is answered; there may be nothing to tell yet. */
  onOpen?: () => void;
}

export interface WriteOptions {
  fieldManager?: string;
  dryRun?: boolean;
  signal?: AbortSignal | undefined;
}

export interface CreateOptions extends WriteOptions {
  cluster?: string | undefined;
  namespace?: string | undefined;
  /** With `subresource`: of which object (pods/x/binding). */
  name?: string;
  subresource?: string;
}

export type PatchType = 'merge' | 'json' | 'strategic' | 'apply';

/** By Content-Type. */
export const patchTypes: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/delete-options/ */
export interface DeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: string[];
}

export interface RawRequest {
  method: string;
  /** Below the client's prefix and cluster, percent-encoded, with its query. */
  path: string;
  cluster?: string | undefined;
  headers?: Record<string, string>;
  body?: Uint8Array | object;
  signal?: AbortSignal | undefined;
  /** As in ApiRequest. */
  maxBytes?: number;
}
