import type { ApiResponse, Transport } from '../../kube/http.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isRecord } from '../../kube/untyped.ts';
import type { Random } from '../fault/random.ts';

/** What no number of pods is, and what is none that anybody has. */
const lies: readonly [unknown, ...unknown[]] = [
  -5,
  -1,
  0,
  7,
  1e12,
  1e308,
  1.5,
  null,
  'NaN',
  '3',
  true,
  [],
  {},
];
const kinds = new Set(['Deployment', 'StatefulSet', 'Pod', 'ReplicaSet']);

/** A physical cluster that says of its workloads and pods what is not so, for a while. */
export class Liar {
  hasLied = false;
  readonly #random: Random;
  #until = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  lie(forMs: number): void {
    this.hasLied = true;
    this.#until = Date.now() + forMs;
  }

  stop(): void {
    this.hasLied = false;
    this.#until = 0;
  }

  wrap(transport: Transport): Transport {
    return async (request) => {
      const response = await transport(request);
      const { events, body } = response;
      if (request.method !== 'GET') return response;
      if (events) return { ...response, events: this.#batches(events) };
      return this.#lies() && body instanceof Uint8Array ? { ...response, body: this.#list(body) } : response;
    };
  }

  #lies(): boolean {
    return Date.now() < this.#until;
  }

  async *#batches(batches: NonNullable<ApiResponse['events']>): NonNullable<ApiResponse['events']> {
    for await (const batch of batches)
      yield this.#lies() ? batch.map((event) => ({ ...event, object: this.#twisted(event.object) })) : batch;
  }

  #list(bytes: Uint8Array): Uint8Array {
    const read: unknown = JSON.parse(Buffer.from(bytes).toString() || 'null');
    if (!isRecord(read) || !Array.isArray(read['items'])) return bytes;
    const kind = String(read['kind']).replace(/List$/, '');
    const items = (read['items'] as unknown as KubeObject[]).map((item) => this.#twisted({ ...item, kind }));
    return Buffer.from(JSON.stringify({ ...read, items }));
  }

  /** Numbers that are none, fields that nobody has, owners that nobody knows. */
  #twisted<T extends KubeObject>(object: T): T {
    if (!kinds.has(object.kind) || !isRecord(object.status)) return object;
    const status = Object.entries(object.status).map(([field, value]): [string, unknown] => {
      const isNumber = typeof value === 'number' && field !== 'observedGeneration';
      return [field, isNumber ? this.#random.pick(lies) : value];
    });
    const more = { availableReplicas: this.#random.pick(lies), foreign: 'nowhere', __proto__x: 1 };
    const twisted = { ...object, status: { ...Object.fromEntries(status), ...more } };
    if (object.kind !== 'Pod') return twisted;
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'nobody',
      uid: 'nowhere',
      controller: true,
    };
    return { ...twisted, metadata: { ...object.metadata, ownerReferences: [owner] } };
  }
}

const most = 2 ** 31 - 1;
const counters = ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'];

/** What a workload says of itself that no number of pods can be. */
export function insane({ status }: KubeObject): string[] {
  if (!isRecord(status)) return [];
  return counters.flatMap((field) => {
    const value = status[field];
    const isNumber = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;
    return value === undefined || isNumber ? [] : [`${field} ${JSON.stringify(value)}`];
  });
}
