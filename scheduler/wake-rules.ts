import { logicalClusterOf } from '../client/url.ts';
import type { PlacedResource } from '../cluster/placed-resource.ts';
import { asRuled } from '../cluster/ruled.ts';
import type { CustomResourceDefinition } from '../controller/gc/resources.ts';
import { deepEqual } from '../kube/deep.ts';
import type { KubeObject } from '../kube/object.ts';
import { objectMatters } from './matters.ts';
import { ruledWithin } from './within.ts';
import { namespaceKey, type World } from './world.ts';

/** What a rule is about, or has been, concerns its Namespace; a rule that comes, changes or goes those of all that is of its kind. */
export function wakeForRules(world: World, soon: (key: string) => void): void {
  const { ruled } = world;
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
  // What is placed may have gone unseen.
  ruled.onKnown((_, resource) => {
    const clusters = new Set([...ruled.definitions.values()].map(logicalClusterOf));
    for (const cluster of clusters)
      for (const object of ruledWithin(world, resource, cluster)) within(object);
  });
  // A version that it serves now may be the one that a rule is about; where it is not there its objects are not either.
  const defined = (definition: CustomResourceDefinition) => {
    const { group, names } = definition.spec ?? {};
    if (!group || !names) return;
    const cluster = logicalClusterOf(definition);
    for (const object of ruledWithin(world, { group, resource: names.plural }, cluster)) within(object);
  };
  ruled.definitions.on({
    add: defined,
    update: (now, old) => !isServedAlike(now, old) && defined(now),
    delete: defined,
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

function isServedAlike(now: CustomResourceDefinition, old: CustomResourceDefinition): boolean {
  const said = ({ spec, status }: CustomResourceDefinition) => [
    spec?.versions.map(({ name, served }) => [name, served]),
    status?.conditions?.map(({ type, status: is }) => [type, is]),
  ];
  return deepEqual(said(now), said(old));
}

/** Whatever the rule: as it is, and as all that it says of its pods. */
function matters(now: KubeObject, old: KubeObject): boolean {
  return objectMatters(now, old) || objectMatters(asRuled(now, {}), asRuled(old, {}));
}
