import { decodeContinue, encodeContinue } from '../../../apiserver/registry/continue.ts';
import { collectionRange, objectKey, parseKey } from '../../../apiserver/registry/keys.ts';
import { clusterIn, parseRequest } from '../../../apiserver/request.ts';
import { isLogicalClusterName } from '../../../cluster/names.ts';
import { validateDns1123Label, validatePathSegmentName } from '../../../kube/names.ts';
import { isStatusError, type StatusError } from '../../../kube/status.ts';
import type { Random } from '../random.ts';
import type { Family } from './family.ts';
import { isBytes, methods, names, noise, tricks, url } from './words.ts';

/** What is judged: a known bug replaces one of it. */
export interface Codecs {
  objectKey: typeof objectKey;
  collectionRange: typeof collectionRange;
  parseRequest: typeof parseRequest;
  clusterIn: typeof clusterIn;
  decodeContinue: typeof decodeContinue;
}

export const codecs: Codecs = { objectKey, collectionRange, parseRequest, clusterIn, decodeContinue };

const kinds = [
  { group: '', resource: 'secrets', namespaced: true },
  { group: '', resource: 'secretsx', namespaced: true },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', namespaced: false },
  { group: 'example.com', resource: 'secrets', namespaced: true },
  { group: 'example.com', resource: 'secrets-x', namespaced: false },
] as const;

interface Place {
  kind: (typeof kinds)[number];
  cluster: string;
  namespace: string;
  name: string;
}

/** Undefined where no validation lets it through. */
function placeOf([kind = '', cluster = '', namespace = '', name = '']: readonly string[]): Place | undefined {
  const found = kinds[Number(kind)];
  if (found === undefined || !isLogicalClusterName(cluster) || name === '' || !name.isWellFormed())
    return undefined;
  if (validatePathSegmentName(name).length > 0) return undefined;
  if (found.namespaced && validateDns1123Label(namespace).length > 0) return undefined;
  return { kind: found, cluster, namespace: found.namespaced ? namespace : '', name };
}

function place(random: Random): string[] {
  const label = () => random.pick(['a', 'b', 'ab', 'a-b', 'root', 'a0', '0', 'open', 'openx']);
  const name = random.chance(0.5)
    ? random.pick(names)
    : random.chance(0.5)
      ? random.pick(tricks)
      : noise(random);
  const cluster = random.chance(0.6) ? label() : `${label()}:${label()}`;
  return [String(random.below(kinds.length)), cluster, label(), name];
}

const isSame = (a: Place, b: Place) =>
  a.kind === b.kind && a.cluster === b.cluster && a.namespace === b.namespace && a.name === b.name;

/** No two objects have one key, each reads back, and none lies where another's are listed. */
const keys = (of: Codecs): Family => ({
  name: 'keys',
  share: 45,
  make: (random) => {
    const first = place(random);
    // Neighbours differ in one thing.
    const second = random.chance(0.5) ? place(random) : [...first];
    if (random.chance(0.5)) second[random.below(4)] = place(random)[random.below(4)] ?? '';
    return [...first, ...second];
  },
  judge(texts) {
    const [a, b] = [placeOf(texts.slice(0, 4)), placeOf(texts.slice(4, 8))];
    if (a === undefined || b === undefined) return undefined;
    const keyOf = ({ kind, cluster, namespace, name }: Place) => of.objectKey(kind, cluster, namespace, name);
    const [mine, other] = [keyOf(a), keyOf(b)];
    if ((mine === other) !== isSame(a, b))
      return `${JSON.stringify(mine)} is the key of two, or of one twice`;
    const back = parseKey(a.kind, mine);
    if (back.cluster !== a.cluster || back.namespace !== a.namespace || back.name !== a.name)
      return `${JSON.stringify(mine)} reads back as ${JSON.stringify(back)}`;
    const inside = ({ start, end }: { start: string; end: string }) => other >= start && other < end;
    const alike = a.kind === b.kind && a.cluster === b.cluster;
    if (inside(of.collectionRange(a.kind, a.cluster, '')) !== alike)
      return `${other} in the range of ${a.cluster}`;
    const near = alike && a.namespace === b.namespace;
    if (a.kind.namespaced && inside(of.collectionRange(a.kind, a.cluster, a.namespace)) !== near)
      return `${other} in the range of ${a.cluster}/${a.namespace}`;
    return inside(of.collectionRange(a.kind, '*', '')) === (a.kind === b.kind)
      ? undefined
      : `${other} in the range of all`;
  },
});

/** Fails as kube-apiserver does; what is read names one place, the same that was known before, and holds no way out. */
const paths = (of: Codecs): Family => ({
  name: 'paths',
  share: 30,
  make: (random) => [random.pick(methods), url(random)],
  judge([method = '', text = '']) {
    if (!isBytes(text)) return undefined;
    const info = orStatus(() => of.parseRequest(method, text, { logicalClusters: true }), [400, 404]);
    const before = of.clusterIn(text);
    if (before !== '' && before !== '*' && !isLogicalClusterName(before))
      return `is in ${JSON.stringify(before)}`;
    if (typeof info === 'string' || info === undefined) return info;
    if (info.cluster !== before)
      return `is in ${JSON.stringify(before)}, and read as in ${JSON.stringify(info.cluster)}`;
    for (const part of [info.namespace, info.name, info.resource, info.group, info.subresource]) {
      // Dots are refused by whoever serves it: see isDots.
      if (part.includes('/')) return `leads to ${JSON.stringify(part)}`;
    }
    const parts = info.path.slice(1).split('/');
    // The last of those that are empty is left out.
    if (parts.at(-1) === '') return undefined;
    const again = `/clusters/${info.cluster}/${parts.map(encodeURIComponent).join('/')}`;
    const same = orStatus(() => of.parseRequest(method, again, { logicalClusters: true }), []);
    if (typeof same === 'string' || same === undefined) return `${again} is none: ${same}`;
    const isOne = (
      ['path', 'cluster', 'group', 'resource', 'namespace', 'name', 'subresource'] as const
    ).every((field) => same[field] === info[field]);
    return isOne ? undefined : `${again} is another: ${JSON.stringify(same)}`;
  },
});

/** However it was changed, it leads nowhere but into what is listed. */
const continues = (of: Codecs): Family => ({
  name: 'continue',
  share: 20,
  make(random) {
    const [, cluster = '', namespace = '', name = ''] = place(random);
    const start = random.pick([
      name,
      `${namespace}/${name}`,
      `../${name}`,
      `/${name}`,
      `${name}\0`,
      `../../b/${name}`,
      `//${name}`,
      noise(random),
    ]);
    const rv = random.pick(['1', '-1', '0', '1.5', '9e99', '"1"', 'null', '-5', '[]']);
    const json = `{"v":${random.pick(['"meta.k8s.io/v1"', '"meta.k8s.io/v1"', '"x"', 'null'])},"rv":${rv},"start":${JSON.stringify(start)}}`;
    const token = Buffer.from(json).toString('base64url');
    const at = random.below(token.length);
    const isWhole = random.chance(0.7);
    return [
      cluster,
      isWhole ? token : `${token.slice(0, at)}${noise(random, 2)}${token.slice(at + 1)}`,
      name,
    ];
  },
  judge([cluster = '', token = '', name = '']) {
    if (!isLogicalClusterName(cluster)) return undefined;
    const prefix = of.collectionRange(kinds[0], cluster, '').start;
    const found = orStatus(() => of.decodeContinue(token, prefix), [400]);
    if (typeof found === 'string') return found;
    if (found !== undefined && !found.after.startsWith(prefix))
      return `leads to ${JSON.stringify(found.after)}`;
    if (name === '' || !name.isWellFormed() || validatePathSegmentName(name).length > 0) return undefined;
    const after = of.objectKey(kinds[0], cluster, 'open', name);
    const back = of.decodeContinue(encodeContinue({ revision: 7, after }, prefix), prefix);
    return back.after === after && back.revision === 7 ? undefined : `${after} reads back as ${back.after}`;
  },
});

/** What was read; undefined for an error that clients may be told; what is wrong with any other. */
function orStatus<T extends object>(read: () => T, codes: readonly number[]): T | string | undefined {
  try {
    return read();
  } catch (error) {
    if (!isStatusError(error)) throw error;
    const { code } = error as StatusError;
    return codes.includes(code) ? undefined : `fails with ${code}`;
  }
}

export const codecFamilies = (of: Codecs): Family[] => [keys(of), paths(of), continues(of)];
