import type { Store } from '../store.ts';
import { BadFrame, type Cursor } from './frames.ts';
import type { HeldLeases } from './leases.ts';
import { Ask, Tell } from './ops.ts';
import type { Out } from './out.ts';

/** Who is asked, and what an answer to the question is written by. */
export interface Asked {
  store: Store;
  leases: HeldLeases;
  out: Out;
  tell(op: number, body?: () => void): void;
}

/** What is asked beside objects: of history, leases and the store itself. Reads the frame at once, and does it when called. */
export function seldomAsked(op: number, frame: Cursor, asked: Asked): () => Promise<void> {
  const { store, out, tell } = asked;
  if (op === Ask.compact) {
    const revision = frame.f64();
    return async () => {
      await store.compact(revision);
      tell(Tell.nothing);
    };
  }
  if (op === Ask.acquire || op === Ask.keepAlive || op === Ask.release) return ofLeases(op, frame, asked);
  if (op !== Ask.check) throw new BadFrame(`question ${op}`);
  return async () => {
    const report = await store.check();
    tell(Tell.report, () => out.string(JSON.stringify(report)));
  };
}

function ofLeases(op: number, frame: Cursor, { store, leases, out, tell }: Asked): () => Promise<void> {
  if (op === Ask.acquire) {
    const name = frame.string();
    const ttlMs = frame.f64();
    return async () => {
      const lease = await store.acquire(name, ttlMs);
      if (lease === undefined) return tell(Tell.nothing);
      tell(Tell.lease, () => {
        out.u32(leases.hold(lease));
        out.f64(lease.token);
      });
    };
  }
  const held = frame.u32();
  const keep = op === Ask.keepAlive;
  return async () => {
    const yes = await (keep ? leases.keepAlive(held) : leases.release(held));
    tell(yes ? Tell.yes : Tell.no);
  };
}
