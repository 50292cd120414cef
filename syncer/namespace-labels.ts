import { labelledAnnotation } from '../cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';

/** A merge patch of metadata: null removes. */
export interface LabelPatch {
  labels: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

/** What a namespace that we make bears from the first. */
export function firstLabels(wanted: Readonly<Record<string, string>>): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const keys = Object.keys(wanted).sort();
  return { labels: { ...wanted }, annotations: keys.length > 0 ? { [labelledAnnotation]: keys.join() } : {} };
}

/**
 * What makes a physical namespace bear the labels of its logical one. A label that somebody else put there stays as it
 * is, ours of former times goes. Undefined: nothing is to be done.
 */
export function labelPatch(
  { metadata }: KubeObject,
  wanted: Readonly<Record<string, string>>,
): LabelPatch | undefined {
  const there = metadata.labels ?? {};
  const text = metadata.annotations?.[labelledAnnotation] ?? '';
  const ours = new Set(text.split(',').filter((key) => key !== ''));
  const keys = Object.keys(wanted).filter((key) => ours.has(key) || !Object.hasOwn(there, key));
  const labels: LabelPatch['labels'] = {};
  for (const key of ours) if (!keys.includes(key) && Object.hasOwn(there, key)) labels[key] = null;
  for (const key of keys) if (there[key] !== wanted[key]) labels[key] = wanted[key] ?? null;
  const said = keys.sort().join();
  if (said === text && Object.keys(labels).length === 0) return undefined;
  return { labels, annotations: { [labelledAnnotation]: said === '' ? null : said } };
}
