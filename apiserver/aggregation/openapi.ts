import type { UserInfo } from '../../kube/http.ts';
import { decodeJson } from '../../kube/json.ts';
import { isRecord } from '../../kube/untyped.ts';
import { scopesExtra } from '../authn/impersonate.ts';
import type { AggregatedService } from './api-service.ts';
import type { Question } from './kept.ts';

/** An OpenAPI 3 document that another API server has: where, below /openapi/v3, and in which edition. */
export interface OtherDocument {
  path: string;
  hash: string;
  service: AggregatedService;
}

type Entry = Pick<OtherDocument, 'path' | 'hash'>;

/** As whom kube-aggregator asks for documents: one of the logical cluster's own, who may what anybody may who is known there. */
export function documentsUser(cluster: string): UserInfo {
  return { name: 'system:aggregator', groups: [], extra: { [scopesExtra]: [`cluster:${cluster}`] } };
}

/** Which documents another API server has of the group and version that its APIService is of; of others it says nothing. */
export const openApiQuestion: Question<readonly Entry[]> = {
  name: 'openapi v3',
  path: () => '/openapi/v3',
  user: documentsUser,
  mostBytes: 512 << 10,
  freshMs: 60_000,
  retryMs: 10_000,
  mayBeAbsent: true,
  read: (answer, { group, version }) => {
    const { value } = decodeJson(answer);
    const paths = isRecord(value) && isRecord(value['paths']) ? value['paths'] : {};
    const entries = [`apis/${group}`, `apis/${group}/${version}`].flatMap((path) => {
      const entry = Object.hasOwn(paths, path) ? paths[path] : undefined;
      return isRecord(entry) ? [{ path, hash: hashIn(entry['serverRelativeURL']) }] : [];
    });
    return { value: entries, bytes: Buffer.byteLength(JSON.stringify(entries)) };
  },
};

/** Of a URL nothing else is believed. */
function hashIn(url: unknown): string {
  const [, hash = ''] = /[?&]hash=([-_A-Za-z0-9]{1,200})(?:&|$)/.exec(String(url)) ?? [];
  return hash;
}

/** Each path once: of a group's own the first server that has it, by priority. */
export function documentsIn(
  said: readonly { service: AggregatedService; value: readonly Entry[] }[],
): OtherDocument[] {
  const found = new Map<string, OtherDocument>();
  const first = [...said].sort((a, b) => b.service.versionPriority - a.service.versionPriority);
  for (const { service, value } of first) {
    for (const entry of value) if (!found.has(entry.path)) found.set(entry.path, { ...entry, service });
  }
  return [...found.values()];
}
