import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer.ts';
import type { InformerSet } from '../../client/informers.ts';
import { keyOf, logicalClusterOf, parseKey, type ResourceRef } from '../../client/url.ts';
import type { Logger } from '../../kube/log.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isStatusError } from '../../kube/status.ts';
import { commit } from '../commit.ts';
import { runController } from '../controller.ts';
import { serviceAccounts } from '../namespace/furnish.ts';
import { WorkQueue } from '../queue.ts';
import { byLogicalCluster, clusterToWrite } from '../scope.ts';
import {
  type Account,
  accountOf,
  decideSecret,
  isTokenSecret,
  type Secret,
  withoutSecret,
  withToken,
} from './decide.ts';

/** The token of an account in a logical cluster that lasts as long as the Secret of that name. */
export type SignToken = (cluster: string, account: KubeObject, secret: string) => Promise<string>;

export interface TokensControllerOptions {
  client: Client;
  informers: InformerSet;
  signal: AbortSignal;
  logger: Logger;
  /** PEM */
  rootCa?: string | undefined;
  sign: SignToken;
}

const secrets: ResourceRef = { group: '', version: 'v1', resource: 'secrets' };
const workers = 2;
const byAccount = 'account';
const bySecret = 'secret';

/**
 * Woken by the Secrets that hold ServiceAccounts' tokens, and by the accounts' end. Writes what such a Secret lacks, deletes
 * it with its account, and takes the name of one that has gone from its account. Resolves when stopped.
 * https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#token-controller
 */
export function runTokensController(options: TokensControllerOptions): Promise<void> {
  const { informers, signal, logger } = options;
  const queue = new WorkQueue({ maxDelayMs: 60_000, fair: byLogicalCluster(workers) });
  const all = informers.for<Secret>(secrets);
  const accounts = informers.for<Account>(serviceAccounts);
  all.addIndex(byAccount, (secret) =>
    isTokenSecret(secret) && accountOf(secret) !== '' ? [placeOf(secret, accountOf(secret))] : [],
  );
  accounts.addIndex(bySecret, (account) =>
    (account.secrets ?? []).map(({ name = '' }) => placeOf(account, name)),
  );
  const wake = (secret: Secret, key: string) => {
    if (isTokenSecret(secret)) queue.add(key);
  };
  all.on({ add: wake, update: (secret, _old, key) => wake(secret, key), delete: wake });
  accounts.on({
    delete: (account) => {
      const its = all.byIndex(byAccount, placeOf(account, account.metadata.name ?? ''));
      for (const { metadata } of its) queue.add(placeOf(account, metadata.name ?? ''));
    },
  });
  const reconcile = (key: string) => keepRight(key, options, accounts);
  const ready = [all.synced, accounts.synced];
  return runController({ name: 'tokens', queue, workers, reconcile, signal, logger, ready });
}

function placeOf(object: KubeObject, name: string): string {
  return keyOf(logicalClusterOf(object), object.metadata.namespace ?? '', name);
}

async function keepRight(
  key: string,
  options: TokensControllerOptions,
  accounts: Informer<Account>,
): Promise<void> {
  const { client, informers, signal, rootCa, sign } = options;
  const { cluster: id, namespace, name } = parseKey(key);
  const cluster = clusterToWrite(informers, key);
  const secret = await find<Secret>(client, secrets, { cluster, namespace, name }, signal);
  if (secret === undefined) {
    for (const account of accounts.byIndex(bySecret, key)) await forget(account, name, options, cluster);
    return;
  }
  const named = { cluster, namespace, name: accountOf(secret) };
  const account = named.name === '' ? undefined : await find<Account>(client, serviceAccounts, named, signal);
  const step = decideSecret(secret, account, rootCa);
  try {
    if (step.do === 'fill' && account) {
      const token = step.lacks.token ? await sign(id, account, name) : undefined;
      const wanted = token === undefined ? step.wanted : withToken(step.wanted, token);
      await commit(client, secrets, secret, wanted, { cluster, signal });
    }
    const { uid } = secret.metadata;
    const only = uid ? { preconditions: { uid } } : {};
    if (step.do === 'delete') await client.delete(secrets, { cluster, namespace, name }, only, signal);
  } catch (error) {
    // Another Secret by now, or another one's write: both wake it again.
    if (!isStatusError(error, 'NotFound') && !isStatusError(error, 'Conflict')) throw error;
  }
}

async function forget(
  seen: Account,
  secret: string,
  { client, signal }: TokensControllerOptions,
  cluster: string | undefined,
): Promise<void> {
  const { namespace, name = '' } = seen.metadata;
  const live = await find<Account>(client, serviceAccounts, { cluster, namespace, name }, signal);
  const wanted = live && withoutSecret(live, secret);
  if (live && wanted) await commit(client, serviceAccounts, live, wanted, { cluster, signal });
}

async function find<T extends KubeObject>(
  client: Client,
  resource: ResourceRef,
  target: { cluster: string | undefined; namespace: string | undefined; name: string },
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get<T>(resource, target, signal);
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined;
    throw error;
  }
}
