import { setTimeout } from 'node:timers/promises';
import type { KubeObject } from '../../kube/object.ts';
import { type Account, accountOf, charge } from '../../kube/quota/charge.ts';
import type { Change, Evaluator } from '../../kube/quota/evaluator.ts';
import { type ResourceList, writeList } from '../../kube/quota/list.ts';
import { conflict, isStatusError, staleObject } from '../../kube/status.ts';
import type { AdmissionRequest } from '../plugins.ts';
import type { Registry } from '../registry/types.ts';
import { refusal } from './pods.ts';
import { Paces, type Versions } from './quota-pace.ts';

/** A write that waits for its charge. */
export interface Charged {
  request: AdmissionRequest;
  change: Change;
  evaluator: Evaluator;
  /** It has to fit, and costs nothing. */
  dryRun: boolean;
}

interface Waiting extends Charged {
  done(): void;
  fail(why: unknown): void;
}

interface Namespace {
  cluster: string;
  namespace: string;
}

/** For so long others may be quicker, who write a quota too: each server one write at a time, and whoever counts. */
const patienceMs = 10_000;
const resource = { group: '', resource: 'resourcequotas' };

/**
 * The charges of one server. Those of one namespace go one after the other, and as many as have come meanwhile in one write
 * of each quota; compare-and-swap keeps several servers apart.
 */
class Ledger {
  readonly #registry: Registry;
  /** By namespace, what waits while charges of it are under way. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #paces = new Paces();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Fails with 403 when it does not fit. */
  charge(at: Namespace, charged: Charged): Promise<void> {
    return new Promise((done, fail) => {
      const key = `${at.cluster}/${at.namespace}`;
      const waiting = this.#waiting.get(key);
      const one: Waiting = { ...charged, done, fail };
      if (waiting) {
        waiting.push(one);
        return;
      }
      this.#waiting.set(key, []);
      void this.#work(key, at, [one]);
    });
  }

  async #work(key: string, at: Namespace, first: Waiting[]): Promise<void> {
    const pace = this.#paces.of(key);
    for (let batch = first; batch.length > 0; batch = this.#take(key)) {
      pace.begins();
      try {
        await settle(this.#registry, at, batch, pace.own);
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
      const pause = pace.pauseAfter(batch.length);
      if (pause > 0) await setTimeout(pause * (0.5 + Math.random()));
    }
    this.#waiting.delete(key);
  }

  #take(key: string): Waiting[] {
    const batch = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, []);
    return batch;
  }
}

const ledgers = new WeakMap<Registry, Ledger>();

export function ledgerOf(registry: Registry): Ledger {
  let ledger = ledgers.get(registry);
  if (ledger === undefined) {
    ledger = new Ledger(registry);
    ledgers.set(registry, ledger);
  }
  return ledger;
}

/** Every one is told; fails only when nobody could be. */
async function settle(
  registry: Registry,
  at: Namespace,
  batch: readonly Waiting[],
  own: Versions,
): Promise<void> {
  const started = performance.now();
  let open = batch;
  /** In which somebody was quicker; the others are paid. */
  let left: ReadonlySet<string> | undefined;
  while (open.length > 0) {
    const { items } = await registry.list({ ...resource, ...at });
    for (const { metadata } of items) own.saw(metadata.name ?? '', metadata.resourceVersion);
    const accounts = items.filter(({ metadata }) => left?.has(metadata.name ?? '') ?? true).map(accountOf);
    const before = new Map(accounts.map((account) => [account, account.used]));
    open = open.filter((one) => !isSettled(accounts, one));
    if (open.length === 0) return;
    const changed = accounts.filter((account) => before.get(account) !== account.used);
    const lost = await pay(registry, at, changed, own);
    if (lost.size === 0) break;
    if (performance.now() - started > patienceMs) throw [...lost.values()][0];
    left = new Set(lost.keys());
  }
  for (const { done } of open) done();
}

/** It was refused, or costs nothing. Else the accounts have it. */
function isSettled(accounts: readonly Account[], one: Waiting): boolean {
  const answer = charge(accounts, one.change, one.evaluator, Date.now());
  if ('refused' in answer) one.fail(refusal(one.request, answer.refused));
  else if (one.dryRun || answer.used.size === 0) one.done();
  else {
    for (const [account, used] of answer.used) account.used = used;
    return false;
  }
  return true;
}

/** The conflicts by quota. One that went bounds nothing any more. */
async function pay(
  registry: Registry,
  at: Namespace,
  accounts: readonly Account[],
  own: Versions,
): Promise<Map<string, unknown>> {
  const lost = new Map<string, unknown>();
  await Promise.all(
    accounts.map(async ({ quota, used }) => {
      const name = quota.metadata.name ?? '';
      try {
        const change = (current: KubeObject) => withUsed(quota, current, used);
        const how = { manager: 'kube-apiserver', subresource: 'status' };
        const { metadata } = await registry.update({ ...resource, ...at, name }, change, how);
        own.wrote(name, metadata.resourceVersion);
      } catch (error) {
        if (isStatusError(error, 'NotFound')) return;
        if (!(error instanceof Overtaken) && !isStatusError(error, 'Conflict')) throw error;
        lost.set(name, error instanceof Overtaken ? error.conflict : error);
      }
    }),
  );
  return lost;
}

/** The quota is not as it was when the charge was made. */
class Overtaken extends Error {
  readonly conflict: unknown;

  constructor(name: string) {
    super(`quota ${name} has changed`);
    this.conflict = conflict(resource, name, staleObject);
  }
}

function withUsed(quota: KubeObject, current: KubeObject, used: ResourceList): KubeObject {
  const { uid, resourceVersion, name = '' } = quota.metadata;
  if (current.metadata.uid !== uid || current.metadata.resourceVersion !== resourceVersion)
    throw new Overtaken(name);
  return { ...current, status: { ...(current.status as object | undefined), used: writeList(used) } };
}
