import type { KubeObject } from '../kube/object.ts';
import { readList, sameList } from '../kube/quota/list.ts';
import { at } from '../kube/untyped.ts';
import { type Engine, shareFor } from './engine.ts';
import type { TargetRecord } from './records.ts';
import { parseTarget } from './target.ts';

/** For so long a workload waits: a share that fails to be written never comes, a cluster without quota controller never counts. */
const longestMs = 20_000;

type Known = Pick<Engine, 'shares'> & { physical: Pick<Engine['physical'], 'cached'> };

/**
 * Shares are written one by one: what a workload requires may not be in the view yet. And before a quota is counted it bounds
 * nothing: what came earlier would run whole.
 */
export function isEarly(
  engine: Known,
  record: Pick<TargetRecord, 'requires' | 'early'>,
  isThere: boolean,
  now = Date.now(),
): boolean {
  if (isThere) return false;
  const lacks = record.requires
    .map((required) => lackOf(engine, required))
    .find((lack) => lack !== undefined);
  if (lacks === undefined) {
    record.early = undefined;
    return false;
  }
  // A quota that came late is yet to be counted.
  if (record.early?.lacks !== lacks) record.early = { lacks, since: now };
  return now - record.early.since < longestMs;
}

/** What a workload still waits for of one that it requires. */
function lackOf(engine: Known, required: string): string | undefined {
  const share = shareFor(engine, required);
  if (share === undefined) return required;
  const { kind, namespace, name } = parseTarget(required);
  if (kind.resource !== 'resourcequotas' || !share.spec?.manifest) return undefined;
  const quota = engine.physical.cached(kind, namespace, name);
  if (quota === undefined) return `${required} there`;
  return isCounted(quota) ? undefined : `${required} counted`;
}

function isCounted(quota: KubeObject): boolean {
  return sameList(readList(at(quota.spec, 'hard')), readList(at(quota.status, 'hard')));
}
