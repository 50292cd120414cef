import { createHash } from 'node:crypto';
import type { KubeObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import { conditionsOf } from '../registry/kinds/own-status.ts';

export const apiServices = {
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  namespaced: false,
} as const;

/** An APIService that names another server: who serves a version of a group in one logical cluster. */
export interface AggregatedService {
  name: string;
  /** Another one when it is made anew, or its spec changes. */
  edition: string;
  group: string;
  version: string;
  service: { namespace: string; name: string; port: number };
  /** PEM; absent: the system's authorities. */
  ca?: string;
  /** Whoever answers is believed. */
  insecure: boolean;
  groupPriority: number;
  versionPriority: number;
  /** Whether it was found to answer. */
  available: boolean;
}

/** Undefined of one that is local, or going. */
export function aggregatedIn({
  metadata,
  spec,
  ...rest
}: KubeObject<Record<string, unknown>>): AggregatedService | undefined {
  const service = spec?.['service'];
  if (!isRecord(service) || metadata.deletionTimestamp) return undefined;
  const { group, version, caBundle, insecureSkipTLSVerify } = spec ?? {};
  const ca = typeof caBundle === 'string' && caBundle !== '' ? caBundle : undefined;
  return {
    name: metadata.name ?? '',
    edition: `${metadata.uid}/${digestOf(spec)}`,
    group: String(group ?? ''),
    version: String(version ?? ''),
    service: {
      namespace: String(service['namespace'] ?? ''),
      name: String(service['name'] ?? ''),
      port: Number(service['port'] ?? 443),
    },
    ...(ca !== undefined && { ca: Buffer.from(ca, 'base64').toString('latin1') }),
    groupPriority: Number(spec?.['groupPriorityMinimum'] ?? 0),
    versionPriority: Number(spec?.['versionPriority'] ?? 0),
    insecure: insecureSkipTLSVerify === true,
    available: conditionsOf({ metadata, ...rest }).some(
      ({ type, status }) => type === 'Available' && status === 'True',
    ),
  };
}

/** An APIService has no generation, as in Kubernetes. */
function digestOf(spec: unknown): string {
  return createHash('sha256').update(JSON.stringify(spec)).digest('base64');
}
