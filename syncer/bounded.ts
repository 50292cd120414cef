import type { KubeObject } from '../kube/object.ts';
import { readList, sameList } from '../kube/quota/list.ts';
import { at } from '../kube/untyped.ts';
import { type Engine, shareFor } from './engine.ts';
import type { TargetRecord } from './records.ts';
import { parseTarget } from './target.ts';

/** For so long a workload waits for its quotas to be counted: a cluster without quota controller never says. */
const longestMs = 20_000;

/** Before a quota is counted it bounds nothing: what came earlier would run whole. */
export function isBounded(
  engine: Pick<Engine, 'shares'> & { physical: Pick<Engine['physical'], 'cached'> },
  record: Pick<TargetRecord, 'requires' | 'uncountedSince'>,
  isThere: boolean,
  now = Date.now(),
): boolean {
  if (isThere) return true;
  const uncounted = record.requires.some((required) => {
    const { kind, namespace, name } = parseTarget(required);
    if (kind.resource !== 'resourcequotas' || !shareFor(engine, required)?.spec?.manifest) return false;
    return !isCounted(engine.physical.cached(kind, namespace, name));
  });
  if (!uncounted) {
    record.uncountedSince = undefined;
    return true;
  }
  record.uncountedSince ??= now;
  return now - record.uncountedSince >= longestMs;
}

/** One that is not seen there yet was just written: it wakes whoever waits when it is. */
function isCounted(quota: KubeObject | undefined): boolean {
  if (quota === undefined) return false;
  return sameList(readList(at(quota.spec, 'hard')), readList(at(quota.status, 'hard')));
}
