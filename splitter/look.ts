import { heardAt } from '../cluster/heard.ts';
import { counts, keepsEnded } from '../cluster/life.ts';
import { silenceOf, silentAfterMs } from '../cluster/silence.ts';
import type { Placement } from '../cluster/types.ts';
import { type Clock, systemClock } from '../kube/clock.ts';
import type { KubeObject } from '../kube/object.ts';
import { besideOf } from './beside.ts';
import { silencesOf } from './silences.ts';
import { split } from './split.ts';
import {
  clusterNamed,
  copyingAt,
  coveredAt,
  demandsAt,
  hasOwnVolume,
  scalerAt,
  targetAt,
  toldAt,
  type World,
} from './world.ts';

export interface LookOptions {
  world: World;
  settleMs?: number;
  drainMs?: number;
  silentMs?: number;
  clock?: Clock;
}

/** What is decided about a Placement, of this key, by all that the splitter sees now. Writes nothing. */
export function lookAt(
  key: string,
  placement: Placement,
  root: KubeObject | undefined,
  { world, clock = systemClock, settleMs = 2000, drainMs = 5000, silentMs = silentAfterMs }: LookOptions,
) {
  const { spec } = placement;
  const clusterAt = (name: string) => clusterNamed(world, name);
  const silenceAt = (name: string) => {
    const found = clusterAt(name);
    return found && silenceOf(found);
  };
  const now = clock.now();
  const copying = copyingAt(world, key, placement);
  const silences = silencesOf(Object.keys(spec?.shares ?? {}), clusterAt, { now, graceMs: silentMs });
  const outcome = split({
    placement,
    root,
    isKnown: (name) => spec !== undefined && counts(clusterAt(name), spec),
    keepsEnded: (name) => keepsEnded(clusterAt(name)),
    heardAt: (name) => heardAt(clusterAt(name)),
    silenceOf: silences.of,
    silenceAt,
    now,
    settleMs,
    target: root && targetAt(world, key, root),
    covered: root && coveredAt(world, key, root),
    demands: root && demandsAt(world, key, root),
    scaler: scalerAt(world, key, root),
    toldAt: toldAt(world, key),
    ...(root && besideOf(world, key, placement, root, drainMs)),
    hasOwnVolume: hasOwnVolume(world, placement),
    copying,
  });
  return { outcome, copying, silences, silenceAt };
}
