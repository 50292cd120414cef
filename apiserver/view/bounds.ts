import type { ClusterSlice } from '../../cluster/types.ts';
import { isDeeper } from '../../kube/depth.ts';
import { encodeJson } from '../../kube/json.ts';
import { badRequest, StatusError } from '../../kube/status.ts';
import { isRecord, listAt, textAt } from '../../kube/untyped.ts';
import { dnsName } from './route.ts';

/** A status as JSON: bytes; how deep; one text. Labels: how many, and a key's length. */
export const limits = {
  status: 64 << 10,
  depth: 24,
  text: 4096,
  reason: 128,
  message: 1024,
  labels: 160,
  label: 317,
  claims: 1000,
};
const maxInt = 2 ** 31 - 1;

/**
 * What a physical cluster says of itself is untrusted: numbers are clamped to 0..2^31-1 (a lying cluster must
 * not make a sum overflow or go below nought), deep or large values are refused, texts cut.
 * Written with Object.fromEntries, which makes `__proto__` an ordinary own key.
 */
export function bounded(value: unknown, depth: number = limits.depth): unknown {
  if (depth === 0) throw new StatusError(422, 'Invalid', 'the status is nested too deeply');
  if (typeof value === 'bigint') return value < 0n ? 0 : maxInt;
  if (typeof value === 'number') return Number.isFinite(value) ? Math.min(Math.max(value, 0), maxInt) : 0;
  if (typeof value === 'string') return value.length > limits.text ? value.slice(0, limits.text) : value;
  if (Array.isArray(value)) return value.map((item) => bounded(item, depth - 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, bounded(child, depth - 1)]));
}

/** No object that a cluster runs for us nests as deep; who reads it here, in YAML say, goes as deep as it does. */
const objectDepth = 64;

/** Fails with 422. */
export function refuseNested(value: unknown): void {
  if (isDeeper(value, objectDepth)) throw new StatusError(422, 'Invalid', 'the object is nested too deeply');
}

/** Of whatever came, only a ClusterSlice. Fails with 400, 413 or 422. */
export function boundedSlice(input: unknown): ClusterSlice {
  if (!isRecord(input)) throw badRequest('status is not an object');
  if (typeof input['present'] !== 'boolean') throw badRequest('status.present is not a boolean');
  const slice: ClusterSlice = { present: input['present'] };
  if (input['orphans'] === true) slice.orphans = true;
  const generation = input['observedGeneration'];
  if (typeof generation === 'number') slice.observedGeneration = count(generation);
  const share = sharePart(input['share']);
  if (share) slice.share = share;
  const pods = podsPart(input['pods']);
  if (pods) slice.pods = pods;
  const { nodeName } = input;
  if (typeof nodeName === 'string' && dnsName.test(nodeName)) slice.nodeName = nodeName;
  const owner = ownerPart(input['owner']);
  if (owner) slice.owner = owner;
  const { unplaced } = input;
  if (typeof unplaced === 'string') slice.unplaced = words(unplaced, limits.message);
  if (isRecord(input['status'])) slice.status = boundedStatus(input['status']);
  const refused = listAt(input, 'refusedLabels').filter((key) => typeof key === 'string');
  if (refused.length > 0)
    slice.refusedLabels = [...new Set(refused)]
      .slice(0, limits.labels)
      .map((key) => words(key, limits.label));
  const claims = input['claims'];
  if (Array.isArray(claims))
    slice.claims = claims
      .filter((name) => typeof name === 'string')
      .slice(0, limits.claims)
      .map((name) => words(name, limits.label));
  const error = input['error'];
  if (isRecord(error)) {
    slice.error = {
      reason: words(error['reason'], limits.reason),
      message: words(error['message'], limits.message),
    };
  }
  const { applied } = input;
  if (typeof applied === 'string') slice.applied = words(applied, limits.reason);
  return slice;
}

export function boundedStatus(status: Record<string, unknown>): Record<string, unknown> {
  const kept = bounded(status) as Record<string, unknown>;
  if (Buffer.byteLength(encodeJson(kept)) > limits.status)
    throw new StatusError(413, 'RequestEntityTooLarge', `the status is longer than ${limits.status} bytes`);
  return kept;
}

type SlicePart = NonNullable<ClusterSlice['share']>;

/** What a cluster may say of the share that it applied. */
const shareFields: Record<keyof SlicePart, 'number' | 'boolean'> = {
  replicas: 'number',
  scaled: 'number',
  maxReplicas: 'number',
  completions: 'number',
  parallelism: 'number',
  ordinalsStart: 'number',
  suspend: 'boolean',
  paused: 'boolean',
  withdrawn: 'boolean',
};

function sharePart(input: unknown): SlicePart | undefined {
  if (!isRecord(input)) return undefined;
  const said = Object.entries(shareFields).flatMap(([field, type]): [string, unknown][] => {
    const value = input[field];
    if (typeof value !== type) return [];
    return [[field, typeof value === 'number' ? count(value) : value]];
  });
  return Object.fromEntries(said);
}

function podsPart(input: unknown): ClusterSlice['pods'] {
  if (!isRecord(input) || typeof input['count'] !== 'number') return undefined;
  const { ordinals } = input;
  const [start, end] = isRecord(ordinals) ? [ordinals['start'], ordinals['end']] : [];
  const range = typeof start === 'number' && typeof end === 'number';
  return {
    since: words(input['since'], limits.reason),
    count: count(input['count']),
    ...(range && { ordinals: { start: count(start), end: count(end) } }),
  };
}

function ownerPart(input: unknown): ClusterSlice['owner'] {
  const uid = textAt(input, 'uid');
  return uid ? { uid } : undefined;
}

/** A whole number that can be added up and shown, whatever was said. */
export function count(value: number): number {
  return Number.isFinite(value) ? Math.trunc(Math.min(Math.max(value, 0), maxInt)) : 0;
}

/** One line without control characters: it will stand in logs and terminals. */
function words(value: unknown, max: number): string {
  const text = typeof value === 'string' ? value : '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, max);
}
