import type { KubeObject } from '../kube/object.ts';
import { readList, sameList } from '../kube/quota/list.ts';
import { at } from '../kube/untyped.ts';
import { type Engine, shareFor } from './engine.ts';
import type { TargetRecord } from './records.ts';
import { parseTarget } from './target.ts';

/** For so long a workload waits: a share that fails to be written never comes, a cluster without quota controller never counts. */
const longestMs = 20_000;

/**
 * Shares are written one by one: what a workload requires may not be in the view yet. And before a quota is counted it bounds
 * nothing: what came earlier would run whole.
 */
export function isEarly(
  engine: Pick<Engine, 'shares'> & { physical: Pick<Engine['physical'], 'cached'> },
  record: Pick<TargetRecord, 'requires' | 'earlySince'>,
  isThere: boolean,
  now = Date.now(),
): boolean {
  if (isThere) return false;
  const lacks = record.requires.some((required) => {
    const share = shareFor(engine, required);
    if (share === undefined) return true;
    const { kind, namespace, name } = parseTarget(required);
    if (kind.resource !== 'resourcequotas' || !share.spec?.manifest) return false;
    return !isCounted(engine.physical.cached(kind, namespace, name));
  });
  if (!lacks) {
    record.earlySince = undefined;
    return false;
  }
  record.earlySince ??= now;
  return now - record.earlySince < longestMs;
}

/** One that is not seen there yet was just written: it wakes whoever waits when it is. */
function isCounted(quota: KubeObject | undefined): boolean {
  if (quota === undefined) return false;
  return sameList(readList(at(quota.spec, 'hard')), readList(at(quota.status, 'hard')));
}
