import type { Silence } from '../../cluster/silence.ts';
import type { ClusterSlice, Share } from '../../cluster/types.ts';
import { encodeJson } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { at, isRecord, numberAt, textAt } from '../../kube/untyped.ts';
import { isGoing } from '../traffic.ts';

export type Status = Record<string, unknown>;

/** One cluster's contribution. What a physical cluster says is not trusted: read it through the helpers here. */
export interface FoldPart {
  cluster: string;
  share: Share;
  slice: ClusterSlice | undefined;
  /** `{}` where it has said nothing. */
  status: Status;
  /** Nothing is heard of it: what it said of its pods holds no longer. */
  silence: Silence | undefined;
}

export interface FoldInput {
  root: KubeObject;
  parts: readonly FoldPart[];
  /** Milliseconds since 1970. */
  now: number;
}

/** The root's status from its parts; undefined: leave it as it is. */
export type Fold = (input: FoldInput) => Status | undefined;

const maxInt32 = 2 ** 31 - 1;

export function countOf(part: FoldPart, field: string): number {
  const value = Math.trunc(numberAt(part.status, field) ?? 0);
  return Math.max(0, Math.min(maxInt32, value));
}

export function sum(parts: readonly FoldPart[], field: string): number {
  return Math.min(
    maxInt32,
    parts.reduce((total, part) => total + countOf(part, field), 0),
  );
}

/** Sums by field; zeros are left out, as Kubernetes does. */
export function sums(parts: readonly FoldPart[], fields: readonly string[]): Status {
  return Object.fromEntries(fields.map((f) => [f, sum(parts, f)]).filter(([, n]) => n !== 0));
}

/** Sums of optional counters: those that somebody says, 0 too. */
export function told(parts: readonly FoldPart[], fields: readonly string[]): Status {
  const said = fields.filter((f) => parts.some((part) => at(part.status, f) !== undefined));
  return Object.fromEntries(said.map((f) => [f, sum(parts, f)]));
}

/**
 * The root's generation once every target that stays is heard of and has observed it; before that what the root said last, so
 * that nobody takes a status for that of a spec which some cluster has not seen.
 */
export function observedGeneration({ root, parts }: FoldInput): Status {
  const { generation } = root.metadata;
  const before = numberAt(root.status, 'observedGeneration');
  const staying = parts.filter((part) => !isGoing(part.share));
  const all = staying.every(
    ({ slice, silence }) => !silence && (slice?.observedGeneration ?? 0) >= (generation ?? 0),
  );
  const now = all && staying.length > 0 ? generation : before;
  return now === undefined ? {} : { observedGeneration: Math.min(now, generation ?? now) };
}

/** RFC 3339 times only; undefined when nobody has one. */
function times(parts: readonly Pick<FoldPart, 'status'>[], field: string): string[] {
  return parts
    .flatMap((part) => textAt(part.status, field) ?? [])
    .filter((text) => text.length <= 40 && !Number.isNaN(Date.parse(text)))
    .sort((a, b) => Date.parse(a) - Date.parse(b));
}

export function earliest(parts: readonly FoldPart[], field: string): Status {
  const [first] = times(parts, field);
  return first === undefined ? {} : { [field]: first };
}

export function latest(parts: readonly Pick<FoldPart, 'status'>[], field: string): Status {
  const last = times(parts, field).at(-1);
  return last === undefined ? {} : { [field]: last };
}

/** The longest list that is kept of what one cluster reports. */
export const listLimit = 200;

/** Every different entry of a list, in a fixed order. */
export function union(lists: readonly (readonly unknown[])[]): unknown[] {
  const byText = new Map<string, unknown>();
  for (const list of lists) {
    for (const item of list.slice(0, listLimit)) if (isRecord(item)) byText.set(encodeJson(item), item);
  }
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}

/** Fields that cannot be added up: told only while one cluster alone has the object. */
export function single(parts: readonly FoldPart[], fields: readonly string[]): Status {
  const [only, second] = parts;
  if (!only || second) return {};
  return Object.fromEntries(
    fields.flatMap((f) => (at(only.status, f) === undefined ? [] : [[f, at(only.status, f)]])),
  );
}
