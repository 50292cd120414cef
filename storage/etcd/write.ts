import { fenced } from '../leases.ts';
import { type Entry, type Fence, StoreError } from '../store.ts';
import type { Connection } from './connection.ts';
import { isCallError, translate, verdict } from './errors.ts';
import type { Keys } from './keys.ts';
import { readOne } from './read.ts';
import type { Slot, Slots } from './slots.ts';
import { termKey } from './terms.ts';
import { type Compare, number, type RequestOp, type TxnRequest, type TxnResponse, txn } from './wire.ts';

export interface Write {
  readonly key: string;
  /** Absent: a deletion. */
  readonly value?: Uint8Array;
  /** The revision that the key must have; 0: it must not exist. */
  readonly expected: number;
  /** The entry at `expected`, when the cache has it. */
  readonly previous: Entry | undefined;
  /** The lease that must be held. */
  readonly holding?: Fence | undefined;
}

export interface WriteParts {
  connection: Pick<Connection, 'once' | 'call' | 'mayRetry' | 'patienceMs'>;
  keys: Keys;
  slots: Slots;
}

/**
 * - `answer lost`: an earlier attempt may have happened.
 * - `unmarked`: a full etcd refuses every transaction that puts, also a deletion's mark. Without it a deletion can
 *   free space again, but it is tried once only.
 */
type Doubt = 'none' | 'answer lost' | 'unmarked';

type Attempt =
  | { done: true; revision: number; previous: Entry | undefined }
  | { done: false; current: Entry | undefined }
  | { done: false; fenced: Fence }
  | 'again';

/**
 * Compare-and-swap. When an answer is lost, the same transaction is sent again: it cannot happen twice, because
 * both name the slot's revision. If the first one did happen, the slot shows its mark and its revision. If it did
 * not, the second attempt either happens or moves the slot, so that the first cannot happen later.
 */
export async function write(parts: WriteParts, wanted: Write): Promise<Entry> {
  const { connection, slots } = parts;
  const slot = slots.take();
  const mark = slots.mark();
  const deadline = performance.now() + connection.patienceMs;
  let doubt: Doubt = 'none';
  for (let wait = 10; ; wait = Math.min(wait * 2, 500)) {
    try {
      const answer = await connection.once(txn, transaction(parts.keys, wanted, slot, mark, doubt), deadline);
      const attempt = judge(parts.keys, wanted, slot, mark, answer, doubt);
      if (doubt === 'answer lost') doubt = 'none';
      if (attempt === 'again') continue;
      slots.give(slot);
      if (!attempt.done) {
        throw 'fenced' in attempt ? fenced(attempt.fenced) : refusal(wanted, attempt.current);
      }
      return await written(parts, wanted, attempt.revision, attempt.previous);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      // Nothing was tried but what etcd refused.
      const full = isCallError(error) && verdict(error) === 'full';
      if (full && wanted.value === undefined && doubt === 'none') {
        doubt = 'unmarked';
        continue;
      }
      const again = doubt !== 'unmarked' && (await connection.mayRetry(error, wait, deadline));
      const maybe = doubt !== 'none' || (isCallError(error) && verdict(error) === 'again');
      if (!again) throw maybe ? unknown(error, wanted.key) : translate(error, wanted.key);
      doubt = 'answer lost';
    }
  }
}

function transaction(keys: Keys, wanted: Write, slot: Slot, mark: Uint8Array, doubt: Doubt): TxnRequest {
  const key = keys.data(wanted.key);
  const slotKey = keys.meta(slot.name);
  const change: RequestOp =
    wanted.value === undefined
      ? { delete: { key, prevKv: wanted.previous === undefined } }
      : { put: { key, value: wanted.value, prevKv: wanted.expected > 0 && wanted.previous === undefined } };
  const { holding } = wanted;
  const leaseKey = holding && termKey(keys, holding.name);
  const compare = [at(key, wanted.expected), ...(leaseKey ? [at(leaseKey, holding.token)] : [])];
  const look: RequestOp[] = [{ range: { key } }, ...(leaseKey ? [{ range: { key: leaseKey } }] : [])];
  if (doubt === 'unmarked') return { compare, success: [change], failure: look };
  const failure: RequestOp[] = [...look, { range: { key: slotKey } }];
  if (doubt === 'answer lost') {
    // Only where no attempt left its mark: the mark is the proof that it happened.
    const fence = { put: { key: slotKey, value: Buffer.from('-') } };
    failure.push({ txn: { compare: [at(slotKey, slot.revision)], success: [fence], failure: [] } });
  }
  return {
    compare: [...compare, at(slotKey, slot.revision)],
    success: [change, { put: { key: slotKey, value: mark } }],
    failure,
  };
}

function at(key: Uint8Array, modRevision: number): Compare {
  return { result: 0, target: 2, key, modRevision };
}

/** Leaves the slot's revision right, whatever happened. */
function judge(
  keys: Keys,
  wanted: Write,
  slot: Slot,
  mark: Uint8Array,
  answer: TxnResponse,
  doubt: Doubt,
): Attempt {
  const revision = number(answer.header.revision);
  const first = answer.responses[0];
  if (answer.succeeded) {
    if (doubt !== 'unmarked') slot.revision = revision;
    const kv = first?.put?.prevKv ?? first?.delete?.prevKvs[0];
    return { done: true, revision, previous: kv ? keys.entry(kv) : wanted.previous };
  }
  const kv = first?.range?.kvs[0];
  const current = kv && keys.entry(kv);
  const { holding } = wanted;
  const leaseKv = holding && answer.responses[1]?.range?.kvs[0];
  const outside = holding && (leaseKv === undefined || number(leaseKv.modRevision) !== holding.token);
  const no: Attempt = outside ? { done: false, fenced: holding } : { done: false, current };
  if (doubt === 'unmarked') return no;
  const slotKv = answer.responses[holding ? 2 : 1]?.range?.kvs[0];
  const slotAt = slotKv === undefined ? 0 : number(slotKv.modRevision);
  slot.revision = doubt === 'answer lost' && slotAt === slot.revision ? revision : slotAt;
  // A lost answer: the write did happen, then.
  if (slotKv !== undefined && Buffer.compare(slotKv.value, mark) === 0) {
    return { done: true, revision: slotAt, previous: wanted.previous };
  }
  // Only the slot was elsewhere: an earlier attempt moved it, or it was swept away.
  if (!outside && (current?.revision ?? 0) === wanted.expected) return 'again';
  return no;
}

async function written(
  { connection, keys }: Pick<WriteParts, 'connection' | 'keys'>,
  { key, value, expected, previous: cached }: Write,
  revision: number,
  answered: Entry | undefined,
): Promise<Entry> {
  if (expected === 0 && value !== undefined) return { key, value, revision, created: revision };
  const before = async (): Promise<Entry | undefined> =>
    readOne(connection, keys, key, revision - 1).then(
      ({ entry }) => entry,
      () => undefined,
    );
  const previous = answered ?? cached ?? (await before());
  if (previous === undefined) {
    throw new StoreError('unavailable', `${key} was written, but what it replaced is not known`, { key });
  }
  return value === undefined
    ? { ...previous, revision }
    : { key, value, revision, created: previous.created };
}

/** The last attempt may have happened, or, whatever that met, an earlier one. */
function unknown(cause: unknown, key: string): StoreError {
  return new StoreError('unavailable', `etcd: whether ${key} was written is not known`, { key, cause });
}

function refusal({ key, expected }: Write, current: Entry | undefined): StoreError {
  if (current === undefined) return new StoreError('missing', `${key} does not exist`, { key });
  if (expected === 0) return new StoreError('exists', `${key} exists`, { key, current });
  const message = `${key} is at revision ${current.revision}, not ${expected}`;
  return new StoreError('conflict', message, { key, current });
}
