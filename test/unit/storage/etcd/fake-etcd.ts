import { status } from '@grpc/grpc-js';
import { isCallError, verdict } from '../../../../storage/etcd/errors.ts';
import {
  type Compare,
  type KeyValue,
  type Method,
  number,
  type RangeRequest,
  type RequestOp,
  type ResponseOp,
  type TxnRequest,
  type TxnResponse,
} from '../../../../storage/etcd/wire.ts';

/** What happens to one call. `late`: the answer is lost now, the call is carried out when `deliverLate` says so. */
export type Fate = 'answered' | 'answer lost' | 'never arrived' | 'late';

interface Version extends KeyValue {
  readonly modRevision: number;
  readonly createRevision: number;
  readonly version: number;
}

/** etcd's transactions on a few keys, and a network that does to each call what the plan says. */
export class FakeEtcd {
  readonly patienceMs = 1000;
  readonly state = new Map<string, Version>();
  /** Everything that happened to the keys below /atoll/data, in order. */
  readonly journal: { revision: number; key: string; value: string | undefined }[] = [];
  revision = 1;
  plan: Fate[] = [];
  readonly #late: TxnRequest[] = [];
  readonly #old = new Map<number, Map<string, Version>>();

  async once<Q, A>(method: Method<Q, A>, request: Q): Promise<A> {
    if (!method.path.endsWith('Txn')) return this.#range(request as RangeRequest) as A;
    const fate = this.plan.shift() ?? 'answered';
    if (fate === 'late') this.#late.push(request as TxnRequest);
    if (fate === 'never arrived' || fate === 'late') throw lost();
    const answer = this.txn(request as TxnRequest);
    if (fate === 'answer lost') throw lost();
    return answer as A;
  }

  async call<Q, A>(method: Method<Q, A>, request: Q): Promise<A> {
    return this.once(method, request);
  }

  async mayRetry(error: unknown): Promise<boolean> {
    return isCallError(error) && verdict(error) === 'again';
  }

  deliverLate(): void {
    for (const request of this.#late.splice(0)) this.txn(request);
  }

  txn({ compare, success, failure }: TxnRequest): TxnResponse {
    const succeeded = this.#holds(compare);
    const operations = succeeded ? success : failure;
    if (operations.some((operation) => this.#writes(operation))) {
      this.#old.set(this.revision++, new Map(this.state));
    }
    const responses = operations.map((operation) => this.#apply(operation));
    return { header: { revision: this.revision }, succeeded, responses };
  }

  #holds(compare: readonly Compare[]): boolean {
    return compare.every((c) => (this.state.get(name(c.key))?.modRevision ?? 0) === c.modRevision);
  }

  #writes(operation: RequestOp): boolean {
    if (!('txn' in operation)) return !('range' in operation);
    const { compare, success, failure } = operation.txn;
    return (this.#holds(compare) ? success : failure).some((inner) => this.#writes(inner));
  }

  #apply(operation: RequestOp): ResponseOp {
    const none: ResponseOp = { range: null, put: null, delete: null };
    if ('range' in operation) return { ...none, range: this.#range(operation.range) };
    if ('txn' in operation) {
      // One revision for the whole transaction.
      const { compare, success, failure } = operation.txn;
      for (const inner of this.#holds(compare) ? success : failure) this.#apply(inner);
      return none;
    }
    const { key, prevKv = false } = 'put' in operation ? operation.put : operation.delete;
    const previous = this.state.get(name(key));
    if ('put' in operation) {
      const createRevision = previous?.createRevision ?? this.revision;
      const version = (previous?.version ?? 0) + 1;
      const { value } = operation.put;
      this.state.set(name(key), { key, value, createRevision, modRevision: this.revision, version });
      this.#note(key, Buffer.from(value).toString());
      return { ...none, put: { prevKv: prevKv ? (previous ?? null) : null } };
    }
    this.state.delete(name(key));
    this.#note(key, undefined);
    const prevKvs = prevKv && previous ? [previous] : [];
    return { ...none, delete: { header: { revision: this.revision }, prevKvs } };
  }

  #note(key: Uint8Array, value: string | undefined): void {
    const [, mine] = /^\/atoll\/data(.*)$/.exec(name(key)) ?? [];
    if (mine !== undefined) this.journal.push({ revision: this.revision, key: mine, value });
  }

  #range({ key, revision }: RangeRequest) {
    const at = revision === undefined || number(revision) >= this.revision;
    const kv = (at ? this.state : this.#old.get(revision ?? 0))?.get(name(key));
    return { header: { revision: this.revision }, kvs: kv ? [kv] : [], more: false, count: kv ? 1 : 0 };
  }
}

function name(key: Uint8Array): string {
  return Buffer.from(key).toString('latin1');
}

function lost(): Error {
  return Object.assign(new Error('lost'), { code: status.UNAVAILABLE, details: 'lost' });
}
