import type { Client } from '../client/client.ts';
import { identifyingNamespace, whyOther } from '../cluster/identity.ts';
import type { PhysicalCluster } from '../cluster/types.ts';
import { isStatusError } from '../kube/status.ts';
import { textAt } from '../kube/untyped.ts';
import { within } from '../kube/within.ts';
import { isBusy } from './busy.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

export interface Found {
  version?: string;
  clusterUID?: string;
  /** Where that is what it was asked. */
  serves?: string[];
  error?: string;
  /** The error, where that is all it is. */
  busy?: unknown;
}

interface Asked {
  signal: AbortSignal;
  timeoutMs: number;
  version: boolean;
  /** Who is to answer: another one has not answered for it. Absent: anybody. */
  of?: PhysicalCluster;
}

/** Whether the API server answers, of which cluster, and, where that is asked, which version it is. */
export async function look(
  client: Client,
  { signal, timeoutMs, version: isAsked, of }: Asked,
): Promise<Found> {
  try {
    return await within(timeoutMs, signal, async (soon) => {
      const clusterUID = await uidOf(client, soon);
      const why = of && whyOther(of, clusterUID);
      if (why !== undefined) return { error: why };
      const version = isAsked
        ? textAt(await client.json('/version', { signal: soon }), 'gitVersion')
        : undefined;
      return {
        ...(version !== undefined && { version }),
        ...(clusterUID && { clusterUID }),
      };
    });
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return { error: message, ...(isBusy(error) && { busy: error }) };
  }
}

/** Undefined where it may not be asked for, or is not there (yet): all else must work without. */
async function uidOf(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.get(namespaces, { name: identifyingNamespace }, signal)).metadata.uid;
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Forbidden')) return undefined;
    throw error;
  }
}
