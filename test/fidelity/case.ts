/** What a difference is counted under, and what `--area` takes. */
export const areas = [
  'reading',
  'watch',
  'media',
  'discovery',
  'writes',
  'admission',
  'validation',
  'subresources',
  'authn',
  'rbac',
  'quota',
  'flow',
  'custom',
  'transcripts',
  'bundles',
] as const;
export type Area = (typeof areas)[number];

export interface Request {
  method: string;
  /** With its query; below the logical cluster's prefix for Atoll. */
  path: string;
  accept?: string;
  /** Without the administrator's certificate or token. */
  bare?: boolean;
  /** Default for a body: application/json. */
  contentType?: string;
  headers?: Readonly<Record<string, string | string[]>>;
  /** Objects are sent as JSON; text and bytes as they are. */
  body?: object | string | Uint8Array;
  /** Goes on in the background until the server ends it; the next request waits for its headers only. */
  watch?: boolean;
  /** Set-up: made, but not compared. */
  silent?: boolean;
  /**
   * Made again until the answer has this status, or is so, for at most half a minute: what is written elsewhere in
   * kube-apiserver a moment later, or much later.
   */
  until?: number | ((answer: Answer) => boolean);
}

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  body: Buffer;
  /** The body, where it is JSON. */
  json: Tree;
}

/** A JSON answer, to take a revision or a token from. */
export interface Tree {
  readonly [field: string]: Tree & string;
}

/** Names that no other case uses; a second run of a case gets others of the same length. */
export interface Names {
  /** A namespace: the case's own where it asks for one, else one that all share. */
  ns: string;
  name: string;
}

/** Requests may depend on what the same server answered before, never on the other's. */
export type Step = Request | ((seen: readonly Answer[]) => Request);

export interface Case {
  /** Unique and stable: `writes/configmaps/update/stale`. */
  id: string;
  area: Area;
  /** True: a namespace of its own is made for it. */
  ownNamespace?: boolean;
  steps(names: Names): Step[];
}

export function rv(answer: Answer | undefined): string {
  return answer?.json?.['metadata']?.['resourceVersion'] ?? '';
}

/** For arrow functions that change a body. */
export function set(object: { [field: string]: unknown }, field: string, value: unknown): void {
  object[field] = value;
}
