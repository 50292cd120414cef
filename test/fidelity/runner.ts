import type { Answer, Case, Names, Request } from './case.ts';
import { compare, type Difference } from './compare.ts';
import { Normaliser } from './normalise.ts';
import { settled } from './settle.ts';
import type { Sent, Wire } from './wire.ts';

export interface Servers {
  kubernetes: Wire;
  atoll: Wire;
}

/** A difference and the request whose answers differ. */
export interface Found extends Difference {
  case: Case;
  /** `PUT configmaps` */
  request: string;
  /** Position among the case's requests. */
  step: number;
}

export interface Result {
  requests: number;
  found: Found[];
  /** What was exchanged, for `--only`. */
  exchanges: Exchange[];
  /** Requests on which kube-apiserver panicked: there is no answer to compare. */
  panics: Panic[];
}

export interface Panic {
  case: Case;
  step: number;
}

export interface Exchange {
  request: Request;
  kubernetes: Answer;
  atoll: Answer;
}

/**
 * Runs a case on both; where they differ, once more, and a third time where that has no explanation, so that only what
 * is so each time counts.
 */
export async function runCase(
  servers: Servers,
  item: Case,
  number: number,
  isExplained: (found: Found) => boolean,
): Promise<Result> {
  let all = await runOnce(servers, item, number, 'f');
  for (const round of ['g', 'h']) {
    if (all.found.length === 0 || (round === 'h' && all.found.every(isExplained))) return all;
    const next = await runOnce(servers, item, number, round);
    const again = new Set(next.found.map(keyOf));
    all = {
      requests: all.requests + next.requests,
      found: all.found.filter((difference) => again.has(keyOf(difference))),
      exchanges: next.exchanges,
      panics: [...all.panics, ...next.panics],
    };
  }
  return all;
}

function keyOf({ step, path, kubernetes, atoll }: Found): string {
  return [step, path, kubernetes, atoll].join('\n');
}

/** Of every case that makes no namespace of its own. */
export const sharedNamespace = 'fidelity-shared';

async function runOnce(servers: Servers, item: Case, number: number, round: string): Promise<Result> {
  const name = `${round}q${number.toString(36).padStart(4, '0')}`;
  const names: Names = { ns: item.ownNamespace ? `ns-${name}` : sharedNamespace, name };
  const [theirs, ours] = await Promise.all([
    play(servers.kubernetes, item, names),
    play(servers.atoll, item, names),
  ]);
  const [left, right] = [new Normaliser(names), new Normaliser(names)];
  const found: Found[] = [];
  const exchanges: Exchange[] = [];
  const panics: Panic[] = [];
  let requests = 0;
  for (const [step, { request, answer }] of theirs.entries()) {
    const mine = ours[step]?.answer ?? nothing;
    requests++;
    const [a, b] = [left.comparable(answer), right.comparable(mine)];
    exchanges.push({ request, kubernetes: answer, atoll: mine });
    if (request.silent) continue;
    if (isHungUp(answer) && mine.status !== 0) {
      panics.push({ case: item, step });
      continue;
    }
    const label = `${request.method} ${resourceOf(request.path)}`;
    for (const difference of compare(a, b)) found.push({ ...difference, case: item, request: label, step });
  }
  return { requests, found, exchanges, panics };
}

/** A connection that is closed instead of answered: Go's HTTP server does so when a handler panics. */
function isHungUp({ status, body }: Answer): boolean {
  return status === 0 && body.toString() === 'socket hang up';
}

const nothing: Answer = { status: 0, headers: {}, body: Buffer.alloc(0), json: {} };

async function play(wire: Wire, item: Case, names: Names): Promise<{ request: Request; answer: Answer }[]> {
  if (item.ownNamespace) await makeNamespace(wire, names.ns);
  const requests: Request[] = [];
  const sent: Sent[] = [];
  const seen: Answer[] = [];
  for (const step of item.steps(names)) {
    const request = typeof step === 'function' ? step(seen) : step;
    const exchange = await exchanged(wire, request);
    requests.push(request);
    sent.push(exchange);
    seen.push(request.watch ? nothing : await exchange.done);
    await settled(wire, request, seen.at(-1) ?? nothing);
  }
  const answers = await Promise.all(sent.map(({ done }) => done.catch(() => nothing)));
  return requests.map((request, i) => ({ request, answer: answers[i] ?? nothing }));
}

async function exchanged(wire: Wire, request: Request): Promise<Sent> {
  const { until } = request;
  const isSo = typeof until === 'number' ? ({ status }: Answer) => status === until : until;
  const started = Date.now();
  for (let pause = 50; ; pause = Math.min(pause * 1.5, 1000)) {
    const sent = await wire.send(request).catch(
      (error: Error): Sent => ({
        done: Promise.resolve({ ...nothing, body: Buffer.from(error.message) }),
      }),
    );
    if (isSo === undefined || isSo(await sent.done) || Date.now() - started > 30_000) return sent;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

export async function makeNamespace(wire: Wire, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const { done } = await wire.send({ method: 'POST', path: '/api/v1/namespaces', body });
  const { status } = await done;
  if (status !== 201 && status !== 409) throw new Error(`namespace ${name}: ${status}`);
  await makeAccount(wire, name);
}

/** No controller does. kube-apiserver comes to know of the namespace, and admission of the account, a moment later. */
export async function makeAccount(wire: Wire, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
  const { status } = await (await wire.send({ method: 'POST', path, body })).done;
  if (status !== 201 && status !== 409) throw new Error(`ServiceAccount of ${namespace}: ${status}`);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'probe' },
    spec: { containers: [{ name: 'c', image: 'c' }] },
  };
  for (let tries = 0; tries < 100; tries++) {
    const probe = { method: 'POST', path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body: pod };
    if ((await (await wire.send(probe)).done).status === 201) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no pod may be made in ${namespace}`);
}

/** `/apis/apps/v1/namespaces/a/deployments/b/scale?x` -> `deployments/scale` */
export function resourceOf(path: string): string {
  const [bare = ''] = path.split('?');
  const parts = bare.split('/').filter((part) => part !== '');
  const root = parts[0] === 'api' ? 2 : parts[0] === 'apis' ? 3 : undefined;
  if (root === undefined || parts.length <= root) return bare;
  let rest = parts.slice(root);
  if (rest[0] === 'watch') rest = rest.slice(1);
  if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')) {
    rest = rest.slice(2);
  }
  return rest.length > 2 ? `${rest[0]}/${rest[2]}` : (rest[0] ?? '');
}
