import { notedOwners } from '../cluster/given-owners.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject, OwnerReference } from '../kube/object.ts';
import type { Root } from './owners.ts';
import { reflectedMetadata } from './reflected.ts';

const maxPodBytes = 240 << 10;

/** What of a physical pod goes up. One that is too large goes without its spec's bulk. */
export function reflection(
  pod: KubeObject,
  root: Pick<Root, 'reference'>,
  between: OwnerReference | undefined,
): KubeObject {
  // The one between has another uid up there, which only the server knows.
  const owner = between && { ...between, uid: '' };
  const sameKind = owner?.kind === root.reference?.kind;
  const ownerReferences = [
    ...(owner && !sameKind ? [owner] : []),
    ...(root.reference ? [root.reference] : []),
    ...notedOwners(pod).map((given) => ({ ...given, controller: false })),
  ];
  const metadata = { ...reflectedMetadata(pod), ownerReferences };
  const whole = { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec, status: pod.status };
  if (Buffer.byteLength(encodeJson(whole)) <= maxPodBytes) return whole;
  const { nodeName } = (pod.spec ?? {}) as { nodeName?: unknown };
  const { phase, conditions } = (pod.status ?? {}) as { phase?: unknown; conditions?: unknown };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName, containers: [] },
    status: { phase, conditions },
  };
}
