import type { KubeObject } from '../kube/object.ts';
import { isEnding } from './deletion.ts';
import { isFinished, kindNamed } from './kinds.ts';
import { clustersAnnotation, placedByAnnotation, schedulerUser } from './names.ts';

const partOfLabel = 'app.kubernetes.io/part-of';

/**
 * What moves together within a namespace: all that has no word of its own where the Namespace says where; else what is
 * labelled as part of one app. Undefined: it moves alone, as what runs to its end does.
 */
export function groupOf(root: KubeObject, namespace: KubeObject | undefined): string | undefined {
  const kind = kindNamed(root.kind);
  if (kind?.role !== 'workload' || kind.spread === 'batch' || isFinished(root) || isEnding(root))
    return undefined;
  if (namespace && isUsersWord(namespace) && !isUsersWord(root)) return 'namespace';
  const app = root.metadata.labels?.[partOfLabel];
  return app === undefined || app === '' ? undefined : `app/${app}`;
}

function isUsersWord({ metadata: { annotations } }: KubeObject): boolean {
  return annotations?.[clustersAnnotation] !== undefined && annotations[placedByAnnotation] !== schedulerUser;
}
