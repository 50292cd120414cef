import type { InformerSet } from '../client/informers.ts';
import { parseKey } from '../client/url.ts';

/**
 * Where to write about an object whose key came from these informers: its logical cluster when they read across
 * all, else wherever the client writes anyway (undefined), which is what a plain Kubernetes needs.
 */
export function clusterToWrite(informers: InformerSet, key: string): string | undefined {
  return informers.cluster === '*' ? parseKey(key).cluster : undefined;
}
