import { logicalClusterOf } from '../client/url.ts';
import type { PlacedResource } from '../cluster/placed-resource.ts';
import { asRuled } from '../cluster/ruled.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { objectMatters } from './matters.ts';
import { namespaceKey, type World } from './world.ts';

/** What a rule is about, or has been, concerns its Namespace; a rule that comes, changes or goes those of all that is of its kind. */
export function wakeForRules({ ruled }: World, soon: (key: string) => void): void {
  const within = (object: KubeObject) => soon(namespaceKey(object));
  ruled.on((informer) =>
    informer.on({
      add: within,
      update: (now, old) => matters(now, old) && within(now),
      delete: within,
    }),
  );
  const concerned = ({ spec }: PlacedResource) => {
    for (const object of (spec && ruled.of(spec)?.values()) ?? []) within(object);
  };
  // A version that it serves now may be the one that a rule is about.
  ruled.definitions.on({
    update(now, old) {
      const { group, names } = now.spec ?? {};
      if (!group || !names || deepEqual(now.spec?.versions, old.spec?.versions)) return;
      const cluster = logicalClusterOf(now);
      for (const object of ruled.of({ group, resource: names.plural })?.values() ?? [])
        if (logicalClusterOf(object) === cluster) within(object);
    },
  });
  ruled.rules.on({
    add: concerned,
    update(now, old) {
      if (deepEqual(now.spec, old.spec)) return;
      concerned(now);
      concerned(old);
    },
    delete: concerned,
  });
}

/** Whatever the rule: as it is, and as all that it says of its pods. */
function matters(now: KubeObject, old: KubeObject): boolean {
  return objectMatters(now, old) || objectMatters(asRuled(now, {}), asRuled(old, {}));
}
