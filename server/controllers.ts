import { setMaxListeners } from 'node:events';
import { InformerSet } from '../client/informers.ts';
import { SharedInformers } from '../client/shared-informers.ts';
import { controllersUser } from '../cluster/names.ts';
import { aloneTtlMs, runLeader, type Term } from '../controller/leader.ts';
import type { Members } from '../controller/members.ts';
import { shardCount, shardOf } from '../controller/shards.ts';
import { slim } from '../controller/slim.ts';
import { typeChecks } from '../controller/typecheck/controller.ts';
import type { Store } from '../storage/store.ts';
import { systemClient } from './client.ts';
import {
  type ControllerSettings,
  type Duty,
  everything,
  forAll,
  forClusters,
  placing,
  serverAlone,
} from './duties.ts';

/** A lease, and what whoever holds it does. */
interface Post {
  lease: string;
  duty: Duty;
  /** Which logical clusters concern it; default all. */
  includes?: (cluster: string) => boolean;
  /** See LeaderOptions. */
  ttlMs?: number;
}

export interface ControllersOptions extends ControllerSettings {
  store: Store;
  /** Who else is there, where a store may have several servers: then each does its part, else one does all. */
  members?: Members | undefined;
}

const shared: readonly Post[] = [
  { lease: 'scheduler', duty: placing },
  { lease: 'controllers', duty: forAll },
  ...Array.from({ length: shardCount }, (_, n) => ({
    lease: `controllers-shard-${n}`,
    duty: forClusters,
    includes: (cluster: string) => shardOf(cluster) === n,
  })),
];

/**
 * Everything behind the API but the syncers, each part while this server is the one of all on the store that is elected for
 * it. Resolves when all have stopped, after `signal` aborted.
 */
export async function startControllers(options: ControllersOptions): Promise<void> {
  const { controllers, members } = options;
  const checks = typeChecks();
  if (controllers === 'all' && members) {
    await amongServers({ ...options, members, checks });
    return;
  }
  // Two that do not do the same do not stand in for each other.
  const post = controllers === 'all' ? alone : serving;
  await lead({ ...options, checks }, post, async ({ signal, fence }) => {
    const client = systemClient(options.server, controllersUser, '*', fence);
    return new InformerSet(client, { cluster: '*', signal, logger: options.logger, keep: slim });
  });
}

const alone: Post = { lease: 'controllers', duty: everything, ttlMs: aloneTtlMs };
/** Of servers that do so, several may be on one store: one that dies is followed soon. */
const serving: Post = { lease: 'api-controllers', duty: serverAlone };

type Leading = ControllersOptions & Pick<Parameters<Duty>[0], 'checks'>;

/** What is led here shares one watch of each kind; a term sees of it what concerns its post, all that was written before it at first. */
async function amongServers(options: Leading & { members: Members }): Promise<void> {
  const { server, store, logger, members } = options;
  const reader = systemClient(server, controllersUser);
  const askProgress = () => server.tellProgress();
  const all = new SharedInformers(reader, { cluster: '*', logger, keep: slim, askProgress });
  const leases = shared.map(({ lease }) => lease);
  await Promise.all(
    shared.map((post) => {
      const see = async ({ signal }: Term) =>
        all.face({
          signal,
          since: await revisionOf(store),
          ...(post.includes && { includes: post.includes }),
        });
      return lead(options, post, see, () => members.isMine(post.lease, leases));
    }),
  );
}

/** All that was acknowledged by now has it, or an earlier one. */
async function revisionOf(store: Store): Promise<number> {
  const nothing = { start: '\u0000', end: '\u0001' };
  return (await store.list(nothing, { limit: 1 })).revision;
}

function lead(
  options: Leading,
  { lease, duty, ttlMs }: Post,
  see: (term: Term) => Promise<InformerSet>,
  isMine?: () => boolean,
): Promise<void> {
  const { server, store, signal, logger, metrics, checks } = options;
  const run = async (term: Term) => {
    // One listener for each controller, informer and request of the term.
    setMaxListeners(0, term.signal);
    const client = systemClient(server, controllersUser, '*', term.fence);
    await duty({ settings: options, term, client, informers: await see(term), checks });
  };
  return runLeader({
    store,
    name: lease,
    lead: metrics?.leaders.leading(lease, run) ?? run,
    signal,
    logger,
    ...(isMine && { isMine }),
    ...(ttlMs !== undefined && { ttlMs }),
  });
}
