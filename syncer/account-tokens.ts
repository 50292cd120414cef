import { isMissing } from '../client/errors.ts';
import {
  accountTokenLabel,
  locatorAnnotation,
  managedValue,
  renewAfterAnnotation,
} from '../cluster/names.ts';
import { secretOf } from '../cluster/pod-access.ts';
import type { AccountToken, Locator, ShareView, ShareViewSpec } from '../cluster/types.ts';
import { type Retry, runController } from '../controller/controller.ts';
import { WorkQueue } from '../controller/queue.ts';
import { encodeJson } from '../kube/json.ts';
import type { KubeObject } from '../kube/object.ts';
import { isStatusError, StatusError } from '../kube/status.ts';
import { timestamp } from '../kube/timestamp.ts';
import type { Engine } from './engine.ts';
import { fieldManager, ownership, readLocator } from './ownership.ts';

const secrets = { group: '', version: 'v1', resource: 'secrets' };
const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {} };
const resource = 'serviceaccounts/token';
/** Somebody there may have taken it away, or changed it: so often it is looked at. */
const lookMs = 15 * 60_000;
const missingMs = 60_000;
const leavingMs = 5_000;

/** `<physical namespace>/<Secret>`: it stands for one account of one logical namespace. */
type Key = string;

interface Known {
  /** Of the account that it is a token of. */
  uid: string;
  /** Milliseconds since 1970. */
  renewAt: number;
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
    const known = this.#known.get(key);
    if (known?.uid === spec.account.uid && known.renewAt > Date.now()) return;
    await this.#make(key, spec);
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
    const spec = this.#parts.shares.byIndex('account', key)[0]?.spec;
    if (!spec) return await this.#remove(key);
    const [namespace = ''] = key.split('/');
    if (!this.#parts.namespaces.own(namespace)) return { after: missingMs };
    try {
      const { renewAt } = await this.#make(key, spec);
      return { after: Math.min(lookMs, Math.max(1_000, renewAt - Date.now())) };
    } catch (error) {
      // There is no such account, or no namespace any more: whoever applies something there asks again.
      if (isStatusError(error, 'NotFound')) return { after: missingMs };
      throw error;
    }
  }

  /** Looks at it, and writes it where it is missing or due. */
  #make(key: Key, spec: ShareViewSpec): Promise<Known> {
    const under = this.#making.get(key);
    if (under) return under;
    const making = this.#makeAnew(key, spec).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  async #makeAnew(
    key: Key,
    { account, locator, physicalNamespace: namespace }: ShareViewSpec,
  ): Promise<Known> {
    const { client, upstream, former, signal } = this.#parts;
    const { name: accountName = '', secret: name = '', uid = '' } = account ?? {};
    const wanted: Locator = {
      syncer: locator.syncer,
      cluster: locator.cluster,
      namespace: locator.namespace,
      resource,
      name: accountName,
      uid,
    };
    const found = await this.#read(key);
    const owner = found && ownership(found, wanted, former);
    if (owner === 'foreign')
      throw new StatusError(409, 'NotOwned', `secrets ${key} exists on the cluster and is not ours`);
    const renewAt = Date.parse(found?.metadata.annotations?.[renewAfterAnnotation] ?? '') || 0;
    if (owner === 'ours' && uid !== '' && renewAt > Date.now()) return this.#note(key, { uid, renewAt });
    const target = { cluster: locator.cluster, namespace: locator.namespace, name: accountName };
    const given = await upstream.create<AccountToken>(accounts, request, {
      ...target,
      subresource: 'token',
      signal,
    });
    const known = { uid: given.metadata.uid ?? '', renewAt: halfway(given.expirationTimestamp) };
    const object = secretFor({ ...wanted, uid: known.uid }, { namespace, name }, given, known.renewAt);
    const body = found ? { ...object, metadata: { ...object.metadata, uid: found.metadata.uid } } : object;
    const options = { fieldManager, force: found !== undefined, signal };
    await client.patch(secrets, { namespace, name }, 'apply', body, options);
    return this.#note(key, known);
  }

  #note(key: Key, known: Known): Known {
    this.#known.set(key, known);
    return known;
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

  /** Once nothing is there any more whose pods need it. */
  async #remove(key: Key): Promise<Retry | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    for (const { object } of this.#parts.physical.inNamespace(namespace))
      if (encodeJson(object.spec ?? {}).includes(encodeJson(name))) return { after: leavingMs };
    this.#known.delete(key);
    const found = await this.#read(key);
    if (!found || !isAccountToken(this.#parts, found)) return undefined;
    const { uid } = found.metadata;
    try {
      const preconditions = { ...(uid && { uid }) };
      await this.#parts.client.delete(secrets, { namespace, name }, { preconditions }, this.#parts.signal);
    } catch (error) {
      if (!isMissing(error, name)) throw error;
    }
    return undefined;
  }
}

/** Made there by this syncer, or by one of a former registration that is taken over. */
export function isAccountToken({ uid, former }: Pick<Engine, 'uid' | 'former'>, object: KubeObject): boolean {
  const found = readLocator(object);
  if (found?.resource !== resource || object.metadata.name !== secretOf(found.name ?? '')) return false;
  return found.syncer === uid || former.has(found.syncer);
}

function secretFor(
  locator: Locator,
  { namespace, name }: { namespace: string; name: string },
  { token, authority }: AccountToken,
  renewAt: number,
): KubeObject {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [accountTokenLabel]: managedValue },
      annotations: {
        [locatorAnnotation]: JSON.stringify(locator),
        [renewAfterAnnotation]: timestamp(new Date(renewAt)),
      },
    },
    type: 'Opaque',
    data: { token: base64(token), 'ca.crt': base64(authority), namespace: base64(locator.namespace) },
  };
}

/** As long as nobody can be asked, half of its life is left. */
function halfway(expiration: string): number {
  const now = Date.now();
  return now + Math.max(0, Date.parse(expiration) - now) / 2;
}

function keyOf({ physicalNamespace, account }: ShareViewSpec): Key {
  return `${physicalNamespace}/${account?.secret ?? ''}`;
}
