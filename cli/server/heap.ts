import { setFlagsFromString } from 'node:v8';

/**
 * How much garbage may gather before the heap is searched for it: as much as was alive the last time, where V8
 * would allow up to four. A server's objects live long, and what is not used by it is somebody else's memory.
 */
export function boundGarbage(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
