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
  const said = format(Object.entries(wanted));
  return { labels: { ...wanted }, annotations: said === '' ? {} : { [labelledAnnotation]: said } };
}

/** Whether a label may be given this value, or, null, be taken away. */
export type MayChange = (key: string, value: string | null) => boolean;

/**
 * What makes a physical namespace bear the labels of its logical one. A label that somebody else put there, or that has
 * another value than we gave it, stays as it is, ours of former times goes. Undefined: nothing is to be done.
 */
export function labelPatch(
  { metadata }: KubeObject,
  wanted: Readonly<Record<string, string>>,
  mayChange: MayChange = () => true,
): LabelPatch | undefined {
  const there = new Map(Object.entries(metadata.labels ?? {}));
  const text = metadata.annotations?.[labelledAnnotation] ?? '';
  const said = parse(text);
  const isOurs = (key: string) =>
    isOwnKey(key) || (said.has(key) && (said.get(key) ?? there.get(key)) === there.get(key));
  const labels: LabelPatch['labels'] = {};
  for (const key of there.keys())
    if (isOurs(key) && !Object.hasOwn(wanted, key) && mayChange(key, null)) labels[key] = null;
  for (const [key, value] of Object.entries(wanted))
    if ((isOurs(key) || !there.has(key)) && there.get(key) !== value && mayChange(key, value))
      labels[key] = value;
  const ours = new Map([...there].filter(([key]) => isOurs(key) && labels[key] !== null));
  for (const [key, value] of Object.entries(labels)) if (value !== null) ours.set(key, value);
  const now = format(ours);
  if (now === text && Object.keys(labels).length === 0) return undefined;
  return { labels, annotations: { [labelledAnnotation]: now === '' ? null : now } };
}

/** `env=test,team=a`, of those that are not ours by their keys: neither a key nor a value has a comma or an equals sign. */
function format(ours: Iterable<[string, string]>): string {
  return [...ours]
    .filter(([key]) => !isOwnKey(key))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
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
