import { isMissing } from '../client/errors.ts';
import { accountTokenLabel, authorityAnnotation, renewAfterAnnotation } from '../cluster/names.ts';
import type { AccountToken, Locator, ShareView, ShareViewSpec } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { isAccountToken, isUsed, secretFor, tokenResource } from './account-secret.ts';
import type { Engine } from './engine.ts';
import { fieldManager, ownership, readLocator } from './ownership.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };
const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} };
/** Somebody there may have taken it away, or changed it: so often it is looked at. */
const lookMs = 15 * 60_000;
const missingMs = 60_000;

/** `<physical namespace>/<Secret>`: it stands for one account of one logical namespace. */
type Key = string;

interface Known {
  /** Of the account that it is a token of. */
  uid: string;
  authority: string;
  /** Milliseconds since 1970. */
  renewAt: number;
  /** By performance.now(). */
  seenAt: number;
}

type Parts = Pick<
  Engine,
  | 'uid'
  | 'client'
  | 'upstream'
  | 'shares'
  | 'physical'
  | 'namespaces'
  | 'former'
  | 'name'
  | 'signal'
  | 'logger'
>;

/**
 * The Secrets in which pods there find the tokens of their ServiceAccounts: each is there before the first workload that needs
 * it, is renewed when half of its time is over, and goes with the last one. No more of an account is known there.
 */
export class AccountTokens {
  readonly #parts: Parts;
  readonly #queue = new WorkQueue({ maxDelayMs: 60_000 });
  /** As they were when they were last looked at. */
  readonly #known = new Map<Key, Known>();
  readonly #making = new Map<Key, Promise<Known>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.shares.addIndex('account', ({ spec }) => (spec?.account && spec.manifest ? [keyOf(spec)] : []));
  }

  /** Resolves once what is applied next finds it. Fails as an apply does, NotFound: there is no such account. */
  async ensure(spec: ShareViewSpec): Promise<void> {
    if (!spec.account) return;
    const key = keyOf(spec);
    if (this.#isGood(key, spec.account)) return;
    await this.#make(key, wantedOf(spec));
    this.#queue.addAfter(key, lookMs);
  }

  async run(ready: readonly Promise<unknown>[]): Promise<void> {
    const { shares, namespaces, name, signal, logger } = this.#parts;
    const tell = ({ spec }: ShareView) => spec?.account && this.#queue.add(keyOf(spec));
    shares.on({
      add: tell,
      update(share, old) {
        tell(share);
        tell(old);
      },
      delete: tell,
    });
    namespaces.informer.on({
      delete: ({ metadata: { name = '' } }) => {
        for (const key of this.#known.keys()) if (key.startsWith(`${name}/`)) this.#known.delete(key);
      },
    });
    void Promise.all(ready).then(
      () => this.#findLeft(),
      () => undefined,
    );
    const reconcile = (key: Key) => this.#reconcile(key);
    await runController({
      name: `syncer-tokens-${name}`,
      queue: this.#queue,
      reconcile,
      signal,
      logger,
      ready,
    });
  }

  /** Those that nobody needs any more since before this syncer started. */
  async #findLeft(): Promise<void> {
    const { client, namespaces, signal, logger } = this.#parts;
    if (!namespaces.count()) return;
    try {
      const { items } = await client.list(secrets, { labelSelector: accountTokenLabel, signal });
      for (const { metadata } of items) this.#queue.add(`${metadata.namespace}/${metadata.name}`);
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'tokens that are left there could not be looked for');
    }
  }

  async #reconcile(key: Key): Promise<Retry | undefined> {
    const [namespace = ''] = key.split('/');
    if (!this.#parts.namespaces.own(namespace)) return undefined;
    const spec = this.#parts.shares.byIndex('account', key)[0]?.spec;
    if (!spec) return await this.#leave(key);
    const known = this.#known.get(key);
    const lookIn = known ? known.seenAt + lookMs - performance.now() : 0;
    if (known && lookIn > 0 && this.#isGood(key, spec.account)) return this.#lookAgain(known);
    try {
      return this.#lookAgain(await this.#make(key, wantedOf(spec)));
    } catch (error) {
      // There is no such account, or no namespace any more: whoever applies something there asks again.
      if (isStatusError(error, 'NotFound')) return { after: missingMs };
      throw error;
    }
  }

  #lookAgain({ renewAt }: Known): Retry {
    return { after: Math.min(lookMs, Math.max(1_000, renewAt - Date.now())) };
  }

  #isGood(
    key: Key,
    { uid, authority }: Pick<Known, 'uid' | 'authority'> = { uid: '', authority: '' },
  ): boolean {
    const known = this.#known.get(key);
    return known?.uid === uid && known.authority === authority && known.renewAt > Date.now();
  }

  /** Looks at it, and writes it where it is missing or due. */
  #make(key: Key, wanted: Wanted): Promise<Known> {
    const under = this.#making.get(key);
    if (under) return under;
    const making = this.#makeAnew(key, wanted).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  async #makeAnew(key: Key, { locator, authority }: Wanted): Promise<Known> {
    const { client, upstream, former, signal } = this.#parts;
    const [namespace = '', name = ''] = key.split('/');
    const found = await this.#read(key);
    const owner = found && ownership(found, locator, former);
    if (owner === 'foreign')
      throw new StatusError(409, 'NotOwned', `secrets ${key} exists on the cluster and is not ours`);
    const said = found?.metadata.annotations;
    const renewAt = Date.parse(said?.[renewAfterAnnotation] ?? '') || 0;
    const isSame = owner === 'ours' && locator.uid !== '' && said?.[authorityAnnotation] === authority;
    if (isSame && renewAt > Date.now()) return this.#note(key, { uid: locator.uid, authority, renewAt });
    const target = { cluster: locator.cluster, namespace: locator.namespace, name: locator.name ?? '' };
    const given = await upstream.create<AccountToken>(accounts, request, {
      ...target,
      subresource: 'token',
      signal,
    });
    const known = { uid: given.metadata.uid ?? '', authority, renewAt: halfway(given.expirationTimestamp) };
    const object = secretFor({ ...locator, uid: known.uid }, { namespace, name }, given, known);
    const body = found ? { ...object, metadata: { ...object.metadata, uid: found.metadata.uid } } : object;
    const options = { fieldManager, force: found !== undefined, signal };
    await client.patch(secrets, { namespace, name }, 'apply', body, options);
    return this.#note(key, known);
  }

  #note(key: Key, seen: Omit<Known, 'seenAt'>): Known {
    const known = { ...seen, seenAt: performance.now() };
    this.#known.set(key, known);
    return known;
  }

  /** Whose token is in which namespace there is what we said of that namespace, not what somebody wrote on a Secret. */
  #isOf(namespace: string, { cluster, namespace: logical }: Locator): boolean {
    const home = this.#parts.namespaces.own(namespace)?.locator;
    return home?.cluster === cluster && home.namespace === logical;
  }

  async #read(key: Key): Promise<KubeObject | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    try {
      return await this.#parts.client.get(secrets, { namespace, name }, this.#parts.signal);
    } catch (error) {
      if (isMissing(error, name)) return undefined;
      throw error;
    }
  }

  /**
   * Nothing that is to be there needs it any more. What is there may, for as long as it takes: pods of a former template, and what
   * makes them. For them it is renewed as long as the server gives one.
   */
  async #leave(key: Key): Promise<Retry | undefined> {
    const found = await this.#read(key);
    if (!found || !isAccountToken(this.#parts, found)) {
      this.#known.delete(key);
      return undefined;
    }
    const { annotations, uid, namespace = '', name = '' } = found.metadata;
    if (await isUsed(this.#parts, namespace, name)) {
      const locator = readLocator(found);
      const authority = annotations?.[authorityAnnotation] ?? '';
      if (locator && this.#isOf(namespace, locator))
        await this.#make(key, { locator, authority }).catch(() => undefined);
      return { after: 'growing', atMost: lookMs };
    }
    this.#known.delete(key);
    // Meanwhile something else may have come that needs it.
    if (this.#parts.shares.byIndex('account', key).length > 0) return { after: 0 };
    try {
      const preconditions = { ...(uid && { uid }) };
      await this.#parts.client.delete(secrets, { namespace, name }, { preconditions }, this.#parts.signal);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
    return undefined;
  }
}

/** The account that it is of, and who vouches for the server. */
interface Wanted {
  locator: Locator;
  authority: string;
}

function wantedOf({ account, locator }: ShareViewSpec): Wanted {
  const { syncer, cluster, namespace } = locator;
  const { name = '', uid = '', authority = '' } = account ?? {};
  return { locator: { syncer, cluster, namespace, resource: tokenResource, name, uid }, authority };
}

/** As long as nobody can be asked, half of its life is left. */
function halfway(expiration: string): number {
  const now = Date.now();
  return now + Math.max(0, Date.parse(expiration) - now) / 2;
}

function keyOf({ physicalNamespace, account }: ShareViewSpec): Key {
  return `${physicalNamespace}/${account?.secret ?? ''}`;
}
