import type { Client } from '../client/client.ts';
import type { Informer } from '../client/informer.ts';
import type { ResourceRef } from '../client/url.ts';
import type { ShareView } from '../cluster/types.ts';
import { type Fairness, WorkQueue } from '../controller/queue.ts';
import type { Turns } from '../controller/rush.ts';
import { groupResource } from '../kube/gvk.ts';
import type { Logger } from '../kube/log.ts';
import { AccountTokens } from './account-tokens.ts';
import { childReflectors } from './children.ts';
import { claimReflector } from './claims.ts';
import type { startCleanup } from './cleanup.ts';
import { type Engine, ruledRefs } from './engine.ts';
import { leaveOwners } from './given-owners.ts';
import type { Namespaces } from './namespaces.ts';
import { maxHops, Owners } from './owners.ts';
import { readLocator } from './ownership.ts';
import { Physical } from './physical.ts';
import { physicalChanged } from './physical-changed.ts';
import { PodReflector } from './pods.ts';
import { targetOf } from './target.ts';
import type { Unreadable } from './unreadable.ts';

/** What is known of the physical cluster before any work begins. */
export interface Own {
  client: Client;
  namespaces: Namespaces;
  uid: string;
  unreadable: Unreadable;
}

interface Parts extends Own {
  name: string;
  upstream: Client;
  shares: Informer<ShareView>;
  cleanup: ReturnType<typeof startCleanup>;
  rush: Turns;
  signal: AbortSignal;
  logger: Logger;
}

/** The engine and the reflectors of pods and of what belongs to workloads, which know each other; nothing runs yet. */
export function assemble(parts: Parts) {
  const { client, namespaces, uid, unreadable, name, upstream, shares, cleanup, rush, signal, logger } =
    parts;
  const engine: Engine = {
    name,
    uid,
    former: namespaces.former,
    startedAt: Date.now(),
    upstream,
    client,
    shares,
    namespaces,
    unreadable,
    physical: new Physical({
      client,
      signal,
      logger,
      unreadable,
      changed: (id) => physicalChanged(engine, id),
      appeared: (object) => {
        pods.ownerCame(readLocator(object)?.uid ?? '');
        controllerCame([...children.values(), pods], object.metadata.uid);
      },
      readable: (kind) => wakeKind(engine, kind),
    }),
    accountTokens: { ensure: (spec) => accountTokens.ensure(spec) },
    records: new Map(),
    found: new Map(),
    down: new WorkQueue({ maxDelayMs: 30_000 }),
    up: new WorkQueue({ maxDelayMs: 30_000, fair: newsApart((id) => engine.records.get(id)?.madeAt, rush) }),
    rush,
    hasPods: (id) => pods.hasPods(id),
    endsPods: (id) => pods.endsPods(id),
    runningPods: (id, namespace) => pods.running(id, namespace),
    unplacedPod: (id) => pods.unplaced(id),
    leaveOwners: (id, namespace) => leaveOwners(engine, owners, id, pods.withGivenOwners(namespace)),
    ownerOf: (object) => owners.ownerOf(object),
    shownUid: (key, podUid) => pods.shownUid(key, podUid),
    namespaceMayBeEmpty: (namespace) => {
      // While it has a share it is used, and each that goes says so once more.
      if (!shares.hasIndexed('namespace', namespace)) cleanup.add(namespace);
    },
    signal,
    logger,
  };
  const accountTokens = new AccountTokens(engine);
  const owners = new Owners({
    client,
    physical: engine.physical,
    syncer: uid,
    former: engine.former,
    unreadable,
    ruled: (group, kind) => ruledRefs(shares, group, kind),
    seen: ({ kind }, namespace, name) => children.get(kind)?.seen(`${namespace}/${name}`),
    signal,
  });
  const children = childReflectors(engine, owners);
  const pods = new PodReflector(engine, owners, children);
  const claims = claimReflector(engine);
  return { engine, accountTokens, pods, claims, children: [...children.values()] };
}

/** What has just been made takes no more than its part of the workers: what it waits for is nobody else's business. */
function newsApart(madeAt: (id: string) => number | undefined, rush: Turns): Fairness {
  return { partyOf: (id) => (rush.isNew(madeAt(id)) ? 'new' : ''), most: 12 };
}

interface Controlled {
  controllerCame(uid: string): string[];
}

/** Events come over one watch a kind: what it has adopted may have been seen before it. Controllers may stand in a circle. */
export function controllerCame(
  reflectors: readonly Controlled[],
  uid: string | undefined,
  hops = maxHops,
): void {
  if (uid === undefined || hops === 0) return;
  for (const reflector of reflectors)
    for (const controlled of reflector.controllerCame(uid)) controllerCame(reflectors, controlled, hops - 1);
}

function wakeKind({ shares, down }: Engine, kind: ResourceRef): void {
  for (const share of shares.values()) {
    const { ref } = share.spec ?? {};
    if (ref && groupResource(ref) === groupResource(kind)) down.add(targetOf(share));
  }
}
