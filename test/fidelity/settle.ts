import type { Answer, Request } from './case.ts';
import type { Wire } from './wire.ts';

interface Condition {
  type?: string;
  status?: string;
}

/** What kube-apiserver itself writes into status soon after a write of these kinds; Atoll does so before it answers. */
const told: Readonly<Record<string, (conditions: readonly Condition[]) => boolean>> = {
  customresourcedefinitions: (conditions) =>
    conditions.some(
      ({ type, status }) =>
        (type === 'Established' && status === 'True') || (type === 'NamesAccepted' && status === 'False'),
    ),
  apiservices: (conditions) => conditions.some(({ type }) => type === 'Available'),
  flowschemas: (conditions) => conditions.some(({ type }) => type === 'Dangling'),
};

/** Until the objects of a definition are gone. */
const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

interface Ending {
  deletionTimestamp?: string;
  finalizers?: string[];
}

const deadlineMs = 4_000;
const pauseMs = 40;

/** Returns when the server has said what it says of what was written: the next request is not a race then. */
export async function settled(wire: Wire, { method, path, watch }: Request, answer: Answer): Promise<void> {
  const [bare = '', query = ''] = path.split('?');
  const [, , , , resource = ''] = bare.split('/');
  const check = told[resource];
  if (check === undefined || watch || !['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) return;
  if (answer.status >= 300 || query.includes('dryRun')) return;
  const collection = bare.split('/').slice(0, 5).join('/');
  for (const name of namesOf(bare, answer)) await settledOne(wire, `${collection}/${name}`, check);
}

/** Of what was written; of a collection, what its deletion answered. */
function namesOf(path: string, { json }: Answer): string[] {
  const items = Array.isArray(json?.['items']) ? (json['items'] as { metadata?: { name?: string } }[]) : [];
  const name = path.split('/')[5] ?? json?.['metadata']?.['name'];
  return name === undefined ? items.flatMap(({ metadata }) => metadata?.name ?? []) : [String(name)];
}

async function settledOne(
  wire: Wire,
  object: string,
  check: (conditions: readonly Condition[]) => boolean,
): Promise<void> {
  for (const until = Date.now() + deadlineMs; Date.now() < until; ) {
    const { done } = await wire.send({ method: 'GET', path: object });
    const { status, json } = await done;
    const conditions = (json?.['status']?.['conditions'] ?? []) as unknown as readonly Condition[];
    if (status !== 200) return;
    const { deletionTimestamp, finalizers } = json['metadata'] as unknown as Ending;
    const told = deletionTimestamp === undefined ? check(conditions) : !finalizers?.includes(cleanup);
    if (told) return deletionTimestamp === undefined ? served(wire, json, until) : undefined;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** kube-apiserver serves what is established a moment later. */
async function served(wire: Wire, json: Answer['json'], until: number): Promise<void> {
  const spec = json?.['spec'] as { group?: string; names?: { plural: string } } | undefined;
  const conditions = (json?.['status']?.['conditions'] ?? []) as unknown as readonly Condition[];
  if (!spec?.names || !conditions.some(({ type, status }) => type === 'Established' && status === 'True'))
    return;
  const [version] = (json?.['spec']?.['versions'] ?? []) as unknown as readonly { name: string }[];
  while (Date.now() < until) {
    const path = `/apis/${spec.group}/${version?.name}/${spec.names.plural}?limit=1`;
    const { status } = await (await wire.send({ method: 'GET', path })).done;
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
