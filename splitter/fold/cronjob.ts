import type { KubeObject } from '../../kube/object.ts';
import { listAt, textAt } from '../../kube/untyped.ts';
import { type Fold, type FoldPart, latest, type Status, union } from './part.ts';

/** When it ran last stays said where the cluster that ran it then has none of it any more. */
export const foldCronJob: Fold = ({ root, parts, now }) => {
  const active = union(parts.map((part) => listAt(part.status, 'active')));
  return {
    ...(active.length > 0 && { active }),
    ...latestEver(root, parts, { field: 'lastScheduleTime', now }),
    ...latestEver(root, parts, { field: 'lastSuccessfulTime', now }),
  };
};

/** Of what was said of it before, nothing of the time to come. */
function latestEver(
  root: KubeObject,
  parts: readonly FoldPart[],
  { field, now }: { field: string; now: number },
): Status {
  const before = textAt(root.status, field);
  const isPast = before !== undefined && Date.parse(before) <= now;
  return latest([...parts, ...(isPast ? [{ status: { [field]: before } }] : [])], field);
}
