import { podCount } from '../cluster/pod-spec.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Company } from './company.ts';
import { copyRefusal, underCopy } from './copies.ts';
import type { Situation } from './judge.ts';
import { misfitOf } from './node-choice.ts';
import { keptOf } from './room.ts';
import type { Scene } from './scene.ts';
import type { Subject } from './subjects.ts';
import { asking, podsOf, type Usage } from './usage.ts';

/** What a workload is decided by, as others are decided so far. */
export function situationOf(
  scene: Scene,
  subject: Subject,
  { used, company }: { used: Usage; company: Company },
): Situation {
  const { placed, placement, current, requires, claims } = subject;
  const { kind, object } = placed;
  const had = placement ? podsOf(object, placement) : new Map<string, number>();
  const copied = {
    copied: claims.copy,
    uncopied: claims.uncopied,
    busy: underCopy(scene, placed, requires),
    there: Object.keys(placement?.spec?.shares ?? {}),
  };
  return {
    clusters: scene.clusters,
    notTaken: scene.input.notTaken ?? new Map(),
    used,
    current,
    claims: claims.hold,
    uncopied: claims.uncopied,
    now: scene.input.now,
    listened: scene.listened,
    had,
    kept: placement ? keptOf(placement, had) : new Map<string, number>(),
    filled: placement?.spec?.filled,
    most: placement?.spec?.spread?.most,
    usesClaims: requires.some(({ resource }) => resource === 'persistentvolumeclaims'),
    pods: podCount(object),
    divided: kind.spread,
    kind: kind.rule && `${groupResource(kind)}/${kind.version}`,
    company: (name) => company.refusal(subject, name) ?? copyRefusal(copied, name, scene.clusters),
    need: asking(object),
    misfit: misfitOf(object, scene.clusters),
  };
}
