import type { Client } from '../../client/client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { getOwn, listAt, textAt } from '../../kube/untyped.ts';
import { resources } from '../resources.ts';
import type { Pod } from '../types.ts';
import { ignoreMissing } from '../workloads/controller.ts';

/** On a claim: what is on its volume, a number that each pod that starts with it makes one more. */
export const contentsAnnotation = 'sim.atoll.dev/contents';
/** On a pod: what it found on its volumes when it started, as `<claim>=<number>`, comma-separated. */
export const readAnnotation = 'sim.atoll.dev/read';

export function contentsOf({ metadata }: KubeObject): number {
  return Number(getOwn(metadata.annotations ?? {}, contentsAnnotation) ?? 0);
}

/** By claim. */
export function readBy({ metadata }: KubeObject): Map<string, number> {
  const said = getOwn(metadata.annotations ?? {}, readAnnotation);
  const pairs = said ? said.split(',').map((pair) => pair.split('=')) : [];
  return new Map(pairs.map(([claim = '', number]) => [claim, Number(number)]));
}

/** What a pod does with its volumes as it starts: it looks at what is there, and writes. Once for each pod. */
export async function useVolumes(client: Client, pod: Pod): Promise<void> {
  const names = listAt(pod, 'spec', 'volumes').flatMap(
    (volume) => textAt(volume, 'persistentVolumeClaim', 'claimName') ?? [],
  );
  if (names.length === 0 || getOwn(pod.metadata.annotations ?? {}, readAnnotation) !== undefined) return;
  const { namespace = '', name = '' } = pod.metadata;
  const found: string[] = [];
  for (const claim of names) {
    const at = { namespace, name: claim };
    const there = await client.get(resources.claims, at).catch(ignoreMissing);
    if (!there) continue;
    const contents = contentsOf(there);
    found.push(`${claim}=${contents}`);
    await client.patch(resources.claims, at, 'merge', annotated(contentsAnnotation, String(contents + 1)));
  }
  await client
    .patch(resources.pods, { namespace, name }, 'merge', annotated(readAnnotation, found.join(',')))
    .catch(ignoreMissing);
}

export function annotated(annotation: string, value: string): object {
  return { metadata: { annotations: { [annotation]: value } } };
}
