import type { Client } from '../client/client.ts';
import { isStatusError } from '../kube/status.ts';
import { FailedError } from './errors.ts';
import { physicalClusters } from './resources.ts';

/** For what fails when there is no such physical cluster: says which there are. Anything else stays as it is. */
export function orKnown(client: Client, name: string): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!isStatusError(error, 'NotFound')) throw error;
    const { items } = await client.list(physicalClusters);
    const known = items.map(({ metadata }) => metadata.name).join(', ');
    throw new FailedError(
      `no physical cluster ${name}; there ${known ? `are: ${known}` : 'is none: add one with atoll cluster add'}`,
    );
  };
}
