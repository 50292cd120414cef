import { placedByAnnotation } from '../../cluster/names.ts';
import { shownSpread } from '../../cluster/spread.ts';
import type { KubeObject } from '../../kube/object.ts';
import { closureWish, namesClusters, ownWord, type Said, wishOf } from '../../scheduler/wishes.ts';
import type { Told } from './told.ts';

/** A line for each layer that counts, the most specific first; else who decides where nobody asks. */
export function whoAsked(told: Told): string[] {
  const { kind, object, namespace, placement } = told;
  const wish = kind.role === 'workload' ? wishOf(object, namespace, []) : closureWish(object, namespace);
  const lines = (wish?.layers ?? []).map((said) =>
    annotationLine(said, isOwn(said, object) ? object : namespace),
  );
  lines.push(...policiesOf(placement));
  if (namespace === undefined && !namesClusters(object))
    lines.push('its Namespace may say more: you may not read it');
  if (kind.role === 'closure' && told.users.length > 0)
    lines.push(`it goes along with ${told.users.join(', ')}`);
  if (lines.length > 0) return lines;
  return [
    kind.role === 'closure'
      ? 'nobody: it goes where a workload needs it'
      : 'nobody: it is where the rest of its Namespace is, or where most is free, and stays there',
  ];
}

function isOwn(said: Said, object: KubeObject): boolean {
  return said.source === ownWord(object)?.source;
}

function annotationLine(
  { source, names = [], exclude, spread, overflow }: Said,
  from: KubeObject | undefined,
): string {
  const where = [...names, ...exclude.map((name) => `not ${name}`)];
  const over = spread ? [`spread over ${shownSpread(spread)}`] : [];
  if (overflow !== undefined)
    over.push(overflow ? 'one more for what has no room' : 'no other for what has no room');
  // Who wrote the rest is recorded nowhere.
  const by = where.length > 0 ? from?.metadata.annotations?.[placedByAnnotation] : undefined;
  return `${source}: ${[...where, ...over].join(', ')}${by ? ` (written by ${by})` : ''}`;
}

function policiesOf(placement: Told['placement']): readonly string[] {
  return typeof placement === 'string' ? [] : (placement.spec?.policies ?? []);
}
