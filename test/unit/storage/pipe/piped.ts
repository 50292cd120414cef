import type { Socket } from 'node:net';
import { afterEach } from 'vitest';
import { openMemory } from '../../../../storage/memory/memory.ts';
import type { Store } from '../../../../storage/store.ts';
import { pipeTo } from '../../../contract/pipes.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** They are destroyed after the test. */
export function passing(...sockets: Socket[]): void {
  open.push(...sockets);
}

/** A pipe to `store` that is gone after the test. */
export async function piped(store: Store = openMemory()) {
  const made = await pipeTo(store);
  passing(made.near, made.far);
  return { store, ...made };
}
