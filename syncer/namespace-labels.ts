import { labelledAnnotation } from '../cluster/names.ts';
import { isOwnKey } from '../cluster/namespace-labels.ts';
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
  const said = format(wanted, Object.keys(wanted));
  return { labels: { ...wanted }, annotations: said === '' ? {} : { [labelledAnnotation]: said } };
}

/**
 * What makes a physical namespace bear the labels of its logical one. A label that somebody else put there, or that has
 * another value than we gave it, stays as it is, ours of former times goes. Undefined: nothing is to be done.
 */
export function labelPatch(
  { metadata }: KubeObject,
  wanted: Readonly<Record<string, string>>,
): LabelPatch | undefined {
  const there = new Map(Object.entries(metadata.labels ?? {}));
  const text = metadata.annotations?.[labelledAnnotation] ?? '';
  const said = parse(text);
  const isOurs = (key: string) =>
    isOwnKey(key) || (said.has(key) && (said.get(key) ?? there.get(key)) === there.get(key));
  const keys = Object.keys(wanted).filter((key) => isOurs(key) || !there.has(key));
  const labels: LabelPatch['labels'] = {};
  for (const key of there.keys()) if (isOurs(key) && !keys.includes(key)) labels[key] = null;
  for (const key of keys) if (there.get(key) !== wanted[key]) labels[key] = wanted[key] ?? null;
  const now = format(wanted, keys);
  if (now === text && Object.keys(labels).length === 0) return undefined;
  return { labels, annotations: { [labelledAnnotation]: now === '' ? null : now } };
}

/** `env=test,team=a`, of those that are not ours by their keys: neither a key nor a value has a comma or an equals sign. */
function format(wanted: Readonly<Record<string, string>>, keys: readonly string[]): string {
  return keys
    .filter((key) => !isOwnKey(key))
    .sort()
    .map((key) => `${key}=${wanted[key]}`)
    .join();
}

/** Without values, as older versions said it, whatever is there is ours. */
function parse(text: string): Map<string, string | undefined> {
  const said = text.split(',').filter((one) => one !== '');
  return new Map(
    said.map((one) => {
      const [key = '', value] = one.split('=');
      return [key, value];
    }),
  );
}
