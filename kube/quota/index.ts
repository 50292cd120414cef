import { countName, type Evaluator } from './evaluator.ts';
import { claimEvaluator, countEvaluator, deviceClaimEvaluator, serviceEvaluator } from './evaluators.ts';
import { podEvaluator } from './pod.ts';

const special: readonly Evaluator[] = [
  podEvaluator,
  serviceEvaluator,
  claimEvaluator,
  deviceClaimEvaluator,
  ...['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'].map((name) =>
    countEvaluator('', name),
  ),
];
/** They are no objects that stay, or too many that say little. */
const ignored = new Set(['bindings', 'componentstatuses', 'events', 'events.events.k8s.io']);
const updated = new Set(['pods', 'services', 'persistentvolumeclaims', 'resourceclaims.resource.k8s.io']);
const known = new Map<string, Evaluator>(special.map((one) => [nameOf(one.group, one.resource), one]));

function nameOf(group: string, resource: string): string {
  return countName(group, resource).slice('count/'.length);
}

/** How objects of a resource count; undefined for what no quota bounds. Kinds come and go: theirs are made when asked for. */
export function evaluatorFor(group: string, resource: string): Evaluator | undefined {
  const name = nameOf(group, resource);
  return ignored.has(name) ? undefined : (known.get(name) ?? countEvaluator(group, resource));
}

/** An update of such an object can cost something; of any other only its creation does. */
export function isUpdateCounted({ group, resource }: { group: string; resource: string }): boolean {
  return updated.has(nameOf(group, resource));
}

/** Whose objects count under one of these names; also such as nobody serves. */
export function evaluatorsFor(names: Iterable<string>): Evaluator[] {
  const found = new Set<Evaluator>();
  for (const name of names) {
    const counting = special.filter((evaluator) => evaluator.counts(name));
    for (const evaluator of counting) found.add(evaluator);
    const match = /^count\/([^./]+)(?:\.([^/]+))?$/.exec(name);
    if (counting.length > 0 || !match) continue;
    const evaluator = evaluatorFor(match[2] ?? '', match[1] ?? '');
    if (evaluator) found.add(evaluator);
  }
  return [...found];
}
