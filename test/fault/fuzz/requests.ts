import { begin, everyMark, ofKubernetes, send } from '../../integration/server/matrix/ask.ts';
import type { Cluster } from '../../integration/server/matrix/model.ts';
import type { Asker, Setting } from '../../integration/server/matrix/tenants.ts';
import type { Random } from '../random.ts';
import type { Family } from './family.ts';
import { headers, headersOf, isBytes, methods, noise, url } from './words.ts';

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const places: Readonly<Record<string, Cluster>> = {
  '': 'root',
  '/clusters/root:a': 'a',
  '/clusters/root:b': 'b',
};

export interface Served {
  families: Family[];
  close(): Promise<void>;
}

/** Through every rung of the server's own ladder, without a socket. `respell`: a known bug makes another token of one. */
export async function requestFamilies(respell = (token: string) => token): Promise<Served> {
  const setting = await begin();
  const known = new Map<string, string>();
  for (const asker of setting.askers) {
    for (const prefix of Object.keys(places)) {
      known.set(`${asker.name}${prefix}`, await whoIs(asker, prefix, {}));
    }
  }
  return {
    families: [requests(setting), identities(setting, known), tokens(setting, respell)],
    close: () => setting.api.close(),
  };
}

const isMaster = (asker: Asker) => asker.standing('root') === 'master';

/** Nobody is told of a place that is not theirs, and nothing fails but as clients may be told. */
const requests = ({ askers }: Setting): Family => ({
  name: 'requests',
  share: 3,
  make: (random) => [
    String(random.below(askers.length)),
    random.pick(methods),
    url(random),
    ...headers(random),
  ],
  async judge([who = '', method = '', path = '', ...more]) {
    const asker = askers[Number(who)];
    if (asker === undefined || !path.startsWith('/') || !isBytes(path)) return undefined;
    const reads = ['GET', 'HEAD'].includes(method);
    if (isMaster(asker) && !reads) return undefined;
    const dry = reads ? '' : `${path.includes('?') ? '&' : '?'}dryRun=All`;
    const { status, text } = await send(asker, { method, url: `${path}${dry}`, headers: headersOf(more) });
    if (status >= 500 && !foreseen.test(text)) return `${asker.name}: ${status} ${text.slice(0, 300)}`;
    const told = isMaster(asker)
      ? []
      : everyMark.filter(([cluster, where, mark]) => text.includes(mark) && !reaches(asker, cluster, where));
    return told.length > 0 ? `${asker.name} is told ${told.map(([, , mark]) => mark).join()}` : undefined;
  },
});

/** What kube-apiserver fails with, too. */
const foreseen = new RegExp(
  `${ofKubernetes.source}|requested impersonation without a user|Too large resource version|resourceVersion: Invalid value`,
);

function reaches(asker: Asker, cluster: string, where: string): boolean {
  if (asker.isAnonymous) return false;
  const standing = asker.standing(cluster as Cluster);
  if (standing !== 'home' && standing !== 'guest') return false;
  const grants = asker.grants?.[cluster as Cluster] ?? [];
  if (where === 'kind') return standing === 'home' || cluster === 'root' || grants.length > 0;
  return grants.some(({ namespace }) => namespace === undefined || namespace === where);
}

/** Whatever else is sent, somebody is who they are, or is refused. */
const identities = ({ askers }: Setting, known: ReadonlyMap<string, string>): Family => ({
  name: 'identities',
  share: 1,
  make: (random) => [
    String(random.below(askers.length)),
    random.pick(['', '/clusters/root:a', '/clusters/root:b']),
    ...headers(random),
  ],
  async judge([who = '', prefix = '', ...more]) {
    const asker = askers[Number(who)];
    const before = asker && known.get(`${asker.name}${prefix}`);
    if (asker === undefined || before === undefined) return undefined;
    const shown = headersOf(more);
    // Who may impersonate there becomes another.
    const may = isMaster(asker) || asker.name.includes('administrator');
    if (may && Object.keys(shown).some((name) => name.startsWith('impersonate-'))) return undefined;
    const now = await whoIs(asker, prefix, shown);
    return now === before || /^4\d\d$/.test(now) || now === 'unsaid'
      ? undefined
      : `${asker.name} is ${now}, not ${before}`;
  },
});

/** As the server says, or the code with which it says nothing. */
async function whoIs(asker: Asker, prefix: string, more: Record<string, string>): Promise<string> {
  const url = `${prefix}${review}`;
  const body = Buffer.from('{}');
  const { status, text } = await send(asker, {
    method: 'POST',
    url,
    headers: { ...more, 'content-type': 'application/json', accept: 'application/json' },
    body,
  });
  if (status === 500 && foreseen.test(text)) return 'unsaid';
  if (status !== 201) return String(status);
  const { username, groups = [], extra = {} } = JSON.parse(text).status.userInfo;
  // Each token has an id of its own; nothing else may differ.
  return JSON.stringify([username, groups, extra]);
}

/** A token that was changed in any bit is nobody's. */
const tokens = ({ askers }: Setting, respell: (token: string) => string): Family => {
  const holders = askers.filter(
    ({ headers: shown, brief, name }) =>
      shown?.['authorization'] && (!brief || name.startsWith('the administrator')),
  );
  return {
    name: 'tokens',
    share: 1,
    make: (random) => [String(random.below(holders.length)), String(random.below(1 << 20)), change(random)],
    async judge([who = '', where = '', what = '']) {
      const holder = holders[Number(who)];
      const token = holder?.headers?.['authorization']?.slice('Bearer '.length) ?? '';
      const at = Number(where) % token.length;
      const changed = changedAt(token, at, what);
      if (holder === undefined || changed === undefined || changed.trim() === token) return undefined;
      const shown = { ...holder, headers: { authorization: `Bearer ${respell(changed)}` } };
      const place = holder.name.includes('in b') ? '/clusters/root:b' : '/clusters/root:a';
      const { status } = await send(shown, { method: 'GET', url: `${place}/api`, headers: {} });
      return status === 401 ? undefined : `${status} for a token that was changed: ${what} at ${at}`;
    },
  };
};

function change(random: Random): string {
  const bits = ['0', '1', '2', '3', '4', '5', '6', '7'] as const;
  return random.chance(0.7)
    ? `bit${random.pick(bits)}`
    : random.pick([
        'cut',
        'drop',
        'twice',
        'swap',
        `put${noise(random, 2)}`,
        `end${random.pick(['=', '==', 'A', '.', '.A', '\n'])}`,
      ]);
}

function changedAt(token: string, at: number, what: string): string | undefined {
  const [before, letter, after] = [token.slice(0, at), token[at] ?? '', token.slice(at + 1)];
  const kind = what.slice(0, 3);
  const rest = what.slice(3);
  if (kind === 'bit') return before + String.fromCharCode(letter.charCodeAt(0) ^ (1 << Number(rest))) + after;
  if (kind === 'cut') return before;
  if (kind === 'put') return before + rest + letter + after;
  if (kind === 'end') return token + rest;
  if (what === 'drop') return before + after;
  if (what === 'twice') return before + letter + letter + after;
  return what === 'swap' ? before + after.slice(0, 1) + letter + after.slice(1) : undefined;
}
