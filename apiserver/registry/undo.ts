import { isSeenMark, isSystemMark } from '../../cluster/marks.ts';
import { group, logicalClusterAnnotation, refusedRevisionAnnotation } from '../../cluster/names.ts';

type Annotations = Readonly<Record<string, string>>;

/**
 * What users said of where an object runs, of which a write that takes back an earlier revision says nothing. `kubectl rollout undo` gives a
 * Deployment the annotations of the ReplicaSet that it goes back to. On Kubernetes those of the Deployment have been copied to
 * that; here physical clusters make it, where nobody says where anything runs. Without this an undo would be a move.
 */
export function keptByUndo(now: Annotations = {}, before: Annotations = {}): Annotations {
  if (!Object.keys(now).some((key) => isOfRevision(key) && !Object.hasOwn(before, key))) return {};
  const isKept = (key: string) =>
    key.startsWith(`${group}/`) && !isSystemMark(key) && !Object.hasOwn(now, key);
  return Object.fromEntries(Object.entries(before).filter(([key]) => isKept(key)));
}

/** What revisions of workloads have, which physical clusters made or the server, and no workload. */
function isOfRevision(key: string): boolean {
  return (isSeenMark(key) && key !== logicalClusterAnnotation) || key === refusedRevisionAnnotation;
}
