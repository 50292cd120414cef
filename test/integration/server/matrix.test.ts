import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asked, begin, everyMark, places, send, wrongs } from './matrix/ask.ts';
import { marker } from './matrix/planting.ts';
import type { Asker, Setting } from './matrix/tenants.ts';

/*
 * Every route by every verb, of everybody, in every logical cluster: what the server answers is what a model of a page
 * says (matrix/model.ts), and no answer holds anything of a place that was not asked for. Routes are what the server says
 * it serves. Writes that are allowed are dry.
 */

let setting: Setting;

beforeAll(async () => {
  setting = await begin();
});
afterAll(() => setting.api.close());

function who(name: string): Asker {
  const found = setting.askers.find((asker) => asker.name === name);
  if (found === undefined) throw new Error(`nobody is ${name}`);
  return found;
}

const tenancy = new Set(['/clusters/root:a', '/clusters/root:b']);
const ofTenants = () => places.filter(({ prefix }) => tenancy.has(prefix));

describe('every route, by every verb, in every logical cluster', () => {
  test('everybody gets what the model says, and nothing of elsewhere', async () => {
    const found: Record<string, string[]> = {};
    for (const asker of setting.askers) {
      const wrong = await wrongs(asker);
      if (wrong.length > 0) found[asker.name] = wrong.slice(0, 20);
    }
    expect(found).toEqual({});
    expect(asked).toBeGreaterThan(300_000);
    // So many take minutes where others have the processor.
  }, 1_200_000);

  test('what was planted is as it was', async () => {
    const { store, planted: keys } = setting;
    expect(keys.length).toBeGreaterThan(250);
    const changed: string[] = [];
    for (const key of keys) {
      const entry = await store.get(key);
      if (entry === undefined || entry.revision !== entry.created) changed.push(key);
    }
    expect(changed).toEqual([]);
  });

  test('a model that says less or more than is so is noticed', async () => {
    const developer = who('a’s developer');
    const { a = [] } = developer.grants ?? {};
    const less = { ...developer, grants: {} };
    const more = { ...developer, grants: { a: a.map(({ rules }) => ({ rules })) } };
    const options = { where: ofTenants(), by: ['GET'] };
    expect((await wrongs(less, options)).length).toBeGreaterThan(100);
    expect((await wrongs(more, options)).length).toBeGreaterThan(100);
  });
});

const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
const forms: [string, Record<string, string>][] = [
  ['a table', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }],
  [
    'metadata',
    { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json' },
  ],
  ['protobuf', { accept: 'application/vnd.kubernetes.protobuf' }],
  ['a WebSocket', { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
  [
    'a stream',
    { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
  ],
];

describe('the same holds', () => {
  test.each(forms)('of who asks for %s', async (_name, accept) => {
    const found: Record<string, string[]> = {};
    for (const name of [
      'a’s developer',
      'an account of a',
      'somebody without a home',
      'a’s user of some rules',
    ]) {
      const wrong = await wrongs(who(name), { where: ofTenants(), by: ['GET'], accept });
      if (wrong.length > 0) found[name] = wrong.slice(0, 20);
    }
    expect(found).toEqual({});
  });
});

describe('what one logical cluster, or one namespace, was told', () => {
  const secrets = '/api/v1/secrets';
  const ask = (name: string, url: string) => send(who(name), { method: 'GET', url, headers: {} });
  const lead = 'a’s administrator';
  const account = 'an account of a';
  const inB = 'somebody without a home';

  test('is no way on into another: continue', async () => {
    const first = JSON.parse((await ask(lead, `/clusters/root:a${secrets}?limit=1`)).text);
    const token = encodeURIComponent(first.metadata.continue);
    expect(first.metadata.continue).toBeTruthy();
    for (const [name, path] of [
      [account, '/clusters/root:a/api/v1/namespaces/open/secrets'],
      [account, `/clusters/root:a${secrets}`],
      [lead, `/clusters/root:b${secrets}`],
      [inB, '/clusters/root:b/api/v1/configmaps'],
      [inB, '/clusters/root:a/api/v1/configmaps'],
    ] as const) {
      const { text } = await ask(name, `${path}?limit=500&continue=${token}`);
      const told = everyMark.filter(([, , mark]) => text.includes(mark)).map(([, , mark]) => mark);
      const own = path.includes('root:b') ? ['open', 'hidden'].map((where) => marker('b', where)) : [];
      const open = path.includes('/open/') ? [marker('a', 'open')] : own;
      expect([path, told.filter((mark) => !open.includes(mark))]).toEqual([path, []]);
    }
  });

  test('is no way on into another: revisions', async () => {
    const { metadata } = JSON.parse((await ask(lead, `/clusters/root:a${secrets}`)).text);
    for (const more of [
      '',
      '&resourceVersionMatch=Exact',
      '&resourceVersionMatch=NotOlderThan',
      '&watch=true',
    ]) {
      for (const revision of [metadata.resourceVersion, '1', '0']) {
        const url = `/clusters/root:b/api/v1/configmaps?resourceVersion=${revision}${more}`;
        const { text } = await ask(inB, url);
        const told = everyMark.filter(([cluster, , mark]) => cluster !== 'b' && text.includes(mark));
        expect([url, told]).toEqual([url, []]);
        const refused = await ask(lead, url);
        expect([url, refused.status]).toEqual([url, 403]);
      }
    }
  });
});
