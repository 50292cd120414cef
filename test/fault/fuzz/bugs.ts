import { posix } from 'node:path';
import { rootCluster } from '../../../cluster/names.ts';
import type { KnownBug } from '../part.ts';
import { type Codecs, codecs } from './codecs.ts';

/** What each known bug puts in the place of the program's own. */
const broken: Readonly<Record<string, Partial<Codecs>>> = {
  'open-range': {
    collectionRange(kind, cluster, namespace) {
      const { start } = codecs.collectionRange(kind, cluster, namespace);
      return { start: start.slice(0, -1), end: `${start.slice(0, -1)}\uffff` };
    },
  },
  'joined-key': {
    objectKey: (kind, cluster, namespace, name) =>
      codecs.objectKey(kind, cluster, namespace, name).replace(`/${namespace}/`, `/${namespace}-`),
  },
  'decodes-twice': {
    parseRequest(method, url, options) {
      const info = codecs.parseRequest(method, url, options);
      return { ...info, name: unescape(info.name) };
    },
  },
  'literal-prefix': {
    clusterIn: (url) => (url.startsWith('/clusters/') ? codecs.clusterIn(url) : rootCluster),
  },
  'continue-anywhere': {
    decodeContinue(text, prefix) {
      try {
        return codecs.decodeContinue(text, prefix);
      } catch (error) {
        if (!String(error).includes('continue key is not valid: ..')) throw error;
        const { start } = JSON.parse(Buffer.from(text, 'base64url').toString());
        return { revision: 1, after: posix.join(prefix, String(start)) };
      }
    },
  },
};

export const knownBugs: readonly KnownBug[] = [
  { name: 'open-range', about: 'a range ends after its prefix, not after the segment', seed: 1, within: 1 },
  {
    name: 'joined-key',
    about: 'what separates namespace and name may be a part of either',
    seed: 1,
    within: 1,
  },
  { name: 'decodes-twice', about: 'a segment of a path is decoded once more', seed: 1, within: 2 },
  { name: 'literal-prefix', about: 'what /%63lusters/NAME leads to is taken for root’s', seed: 1, within: 1 },
  { name: 'continue-anywhere', about: 'a continue token may lead upwards', seed: 1, within: 1 },
  { name: 'other-spelling', about: 'bits of a token that say nothing may be anything', seed: 1, within: 5 },
];

export const codecsWith = (bug: string | undefined): Codecs => ({ ...codecs, ...broken[bug ?? ''] });

/** For `other-spelling`: the bytes count, not how they are spelled. */
export function respelled(token: string): string {
  const parts = token.split('.');
  if (parts.length !== 3) return token;
  return parts.map((part) => Buffer.from(part, 'base64url').toString('base64url')).join('.');
}
