import type { KubeObject } from '../kube/object.ts';
import { perObject } from '../kube/per-object.ts';
import { podTemplate } from './pod-spec.ts';

type Labels = Record<string, string>;

/** Read once of each object, for all that might select its pods. */
export const templateOf = perObject(podTemplate);

const nameLabel = 'statefulset.kubernetes.io/pod-name';
const indexLabel = 'apps.kubernetes.io/pod-index';

/** What the template of a StatefulSet does not say: each of its pods has its own. */
export function isOfOnePod(label: string): boolean {
  return label === nameLabel || label === indexLabel;
}

/** Which a StatefulSet's pod has beside those of its template. */
export function labelsOfOne({ metadata }: KubeObject, ordinal: number): Labels {
  return { [nameLabel]: `${metadata.name ?? ''}-${ordinal}`, [indexLabel]: `${ordinal}` };
}

/** The ordinal of the one pod that a value of such a label stands for. */
export function ordinalNamed(value: string): number {
  return Number(/(?:^|-)(\d+)$/.exec(value)?.[1] ?? 0);
}

/** Of a selector: what it says of a label, and what it comes to. */
export interface Selecting {
  values: Iterable<readonly [label: string, values: readonly string[]]>;
  matches(labels: Labels): boolean;
}

/** Whether a pod of the workload is selected; of a StatefulSet also one that it has not now, since what names one stays beside it. */
export function selectsPodOf(workload: KubeObject, { values, matches }: Selecting): boolean {
  const { labels } = templateOf(workload);
  if (matches(labels)) return true;
  if (workload.kind !== 'StatefulSet') return false;
  for (const [label, named] of values) {
    // The first stands for all where it is asked for the label alone.
    const ordinals = isOfOnePod(label) ? [0, ...named.map(ordinalNamed)] : [];
    if (ordinals.some((ordinal) => matches({ ...labels, ...labelsOfOne(workload, ordinal) }))) return true;
  }
  return false;
}
