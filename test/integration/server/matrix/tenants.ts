import { createHmac, generateKeyPairSync } from 'node:crypto';
import { TokenKeys } from '../../../../apiserver/authn/keys.ts';
import { ServiceAccountTokens } from '../../../../apiserver/authn/service-account.ts';
import type { Peer } from '../../../../apiserver/plugins.ts';
import { syncerUser } from '../../../../apiserver/view/identity.ts';
import type { ApiRequest, ApiResponse } from '../../../../kube/http.ts';
import { silentLogger } from '../../../../kube/log.ts';
import type { KubeObject } from '../../../../kube/object.ts';
import { apiOptions } from '../../../../server/api.ts';
import { loadIdentity } from '../../../../server/identity.ts';
import { resolveSettings } from '../../../../server/settings.ts';
import { openMemory } from '../../../../storage/memory/memory.ts';
import type { Store } from '../../../../storage/store.ts';
import { type Api, startApi } from '../../apiserver/api.ts';
import type { Cluster, Grant, Person, Standing } from './model.ts';
import { published } from './model.ts';
import { admin, bind, define, own, plant, planted, prefixOf, statistics, tenants } from './planting.ts';
import { registryOf } from './routes.ts';

/** Somebody who asks: what the model knows of them, and what they show. */
export interface Asker extends Person {
  name: string;
  peer?: Peer;
  headers?: Readonly<Record<string, string>>;
  /** Shows credentials that are no good: few routes say as much as all. */
  brief?: boolean;
  /** From inside, as the server's own parts come. */
  inside?(request: ApiRequest): Promise<ApiResponse>;
}

export interface Setting {
  api: Api;
  store: Store;
  ids: Record<(typeof tenants)[number], string>;
  askers: Asker[];
  planted: string[];
}

/** The server's own wiring on a store in memory, without controllers: nothing changes but by requests. */
export async function startMatrix(): Promise<Setting> {
  const store = openMemory();
  const settings = resolveSettings({ dataDir: '/nowhere' }, undefined, {});
  const identity = await loadIdentity(store, '127.0.0.1', '/nowhere');
  const options = apiOptions({ store, settings, identity, logger: silentLogger, syncers: () => undefined });
  const api = startApi({ ...options, limits: { readsInFlight: 0, writesInFlight: 0 } });
  const ids = { a: await api.addCluster('root:a'), b: await api.addCluster('root:b') };
  const keys: string[] = [];
  for (const cluster of ['root', ...tenants] as const) {
    await define(api, cluster);
    const { resources } = await registryOf(api.server.transport(admin), prefixOf(cluster));
    keys.push(...(await plant(store, cluster, cluster === 'root' ? 'root' : ids[cluster], resources)));
  }
  await bind(api);
  const tokens = await tokensOf(api, identity.accountKeys, settings.serviceAccountIssuer, ids);
  const syncer = api.server.transport(syncerUser('east'));
  const askers = [...askersOf(ids, tokens, identity.adminToken), syncerAsker(syncer)];
  return { api, store, ids, askers, planted: keys };
}

type Ids = Setting['ids'];

async function tokensOf(api: Api, keys: TokenKeys, base: string | undefined, ids: Ids) {
  const read = async (cluster: string) =>
    (await api.call('GET', `${prefixOf(cluster)}/api/v1/namespaces/open/serviceaccounts/${planted}`))
      .body as KubeObject;
  const ours = new ServiceAccountTokens(keys, base);
  const issue = async (by: ServiceAccountTokens, cluster: 'a' | 'b', more: object = {}) =>
    by.issue({
      cluster: ids[cluster],
      account: await read(cluster),
      audiences: [by.base],
      expirationSeconds: 3600,
      now: new Date(),
      ...more,
    });
  const a = await issue(ours, 'a');
  const [head = '', body = '', signature = ''] = a.split('.');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const theirs = new ServiceAccountTokens(new TokenKeys([{ pem, from: 0 }]), base);
  const gone = { metadata: { ...(await read('a')).metadata, uid: 'another' } };
  const jose = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const forged = (await issue(theirs, 'a')).split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
  const symmetric = `${jose({ alg: 'HS256', kid })}.${body}`;
  return {
    a,
    b: await issue(ours, 'b'),
    wrong: {
      expired: await issue(ours, 'a', { now: new Date(Date.now() - 7_200_000) }),
      'not yet good': await issue(ours, 'a', { now: new Date(Date.now() + 7_200_000) }),
      'for another audience': await issue(ours, 'a', { audiences: ['vault'] }),
      'of an account that is another by now': await issue(ours, 'a', { account: gone }),
      'of another key': forged.join('.'),
      'of another key by the name of ours': [head, forged[1], forged[2]].join('.'),
      'of no algorithm': `${jose({ alg: 'none', kid })}.${body}.`,
      'signed with what is public': `${symmetric}.${createHmac('sha256', kid).update(symmetric).digest('base64url')}`,
      'with another’s claims': [head, (await issue(ours, 'b')).split('.')[1], signature].join('.'),
    },
  };
}

const always = (standing: Standing) => () => standing;
const homeIn =
  (home: Cluster, elsewhere: Standing) =>
  (cluster: Cluster): Standing =>
    cluster === home ? 'home' : elsewhere;
const certificate = (CN: string, O: string[] = [], OU: string[] = []): Peer => ({
  certificate: { subject: { CN, O, OU } as never, valid_to: 'Dec 31 23:59:59 2090 GMT' },
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function askersOf(ids: Ids, tokens: Awaited<ReturnType<typeof tokensOf>>, adminToken: string): Asker[] {
  const ofA = (name: string, groups: string[] = []) => certificate(name, groups, [`cluster:${ids.a}`]);
  const all: Grant[] = [{ rules: published('cluster-admin') }];
  const edit: Grant[] = [{ namespace: 'open', rules: published('edit') }];
  const administrator = certificate('admin', ['system:masters']);
  const lead = ofA('lead');
  const wrong = (name: string, headers: Record<string, string>, peer?: Peer): Asker => ({
    name,
    standing: always('wrong'),
    brief: true,
    headers,
    ...(peer && { peer }),
  });
  /** Whoever may not impersonate gets nothing at all, not what anybody may see. */
  const refused = (name: string, as: Record<string, string>, peer: Peer): Asker => ({
    name,
    peer,
    headers: as,
    standing: always('impostor'),
    brief: true,
  });
  return [
    { name: 'nobody', isAnonymous: true, standing: always('wrong') },
    { name: 'the administrator’s certificate', standing: always('master'), peer: administrator },
    {
      name: 'the administrator’s token',
      standing: always('master'),
      headers: bearer(adminToken),
      brief: true,
    },
    { name: 'a’s administrator', standing: homeIn('a', 'stranger'), grants: { a: all }, peer: lead },
    { name: 'a’s developer', standing: homeIn('a', 'stranger'), grants: { a: edit }, peer: ofA('dev') },
    {
      name: 'a’s viewer by group',
      standing: homeIn('a', 'stranger'),
      grants: { a: [{ namespace: 'open', rules: published('view') }] },
      peer: ofA('eva', ['viewers']),
    },
    {
      name: 'a’s user of some rules',
      standing: homeIn('a', 'stranger'),
      grants: { a: [{ namespace: 'hidden', rules: own }] },
      peer: ofA('own'),
    },
    {
      name: 'an account of a',
      standing: homeIn('a', 'wrong'),
      grants: { a: [{ namespace: 'open', rules: published('admin') }] },
      isAccount: true,
      home: 'a',
      headers: bearer(tokens.a),
    },
    {
      name: 'its namesake in b',
      standing: homeIn('b', 'wrong'),
      isAccount: true,
      home: 'b',
      headers: bearer(tokens.b),
    },
    {
      name: 'somebody without a home',
      standing: always('guest'),
      grants: { b: [{ rules: published('view') }], root: [{ rules: statistics }] },
      peer: certificate('ann'),
    },
    {
      name: 'somebody nobody named',
      standing: always('guest'),
      peer: certificate('zoe', ['x']),
      brief: true,
    },
    {
      name: 'b’s user of the name of a’s administrator',
      standing: homeIn('b', 'stranger'),
      peer: certificate('lead', ['viewers'], [`cluster:${ids.b}`]),
    },
    {
      name: 'whoever has the name of a syncer alone',
      standing: always('guest'),
      peer: certificate('system:atoll:syncer:east'),
      brief: true,
    },
    {
      name: 'the administrator as a’s developer',
      standing: (cluster) => (cluster === 'root' ? 'guest' : 'home'),
      grants: { a: edit },
      peer: administrator,
      headers: { 'impersonate-user': 'dev' },
    },
    {
      name: 'a’s administrator as its developer',
      standing: homeIn('a', 'impostor'),
      grants: { a: edit },
      peer: lead,
      headers: { 'impersonate-user': 'dev' },
      brief: true,
    },
    refused(
      'a’s administrator as one of all',
      { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' },
      lead,
    ),
    refused('a’s administrator as a controller', { 'impersonate-user': 'system:atoll:controllers' }, lead),
    refused('a’s developer as its administrator', { 'impersonate-user': 'lead' }, ofA('dev')),
    ...Object.entries(tokens.wrong).map(([name, token]) => wrong(`a token ${name}`, bearer(token))),
    wrong('a wrong token beside a proxy’s headers', {
      ...bearer('x'),
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
    }),
    {
      name: 'a proxy’s headers, of nobody',
      isAnonymous: true,
      standing: always('wrong'),
      headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
      brief: true,
    },
  ];
}

function syncerAsker(inside: NonNullable<Asker['inside']>): Asker {
  return { name: 'the syncer of east', standing: always('guest'), syncer: 'east', inside };
}
