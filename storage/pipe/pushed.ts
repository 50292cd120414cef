import type { Entry, StoreError, StoreEvent } from '../store.ts';
import { BadFrame, type Cursor } from './frames.ts';
import { Flag, Item } from './ops.ts';

/** What a watch is told: events, or whether it is synced. */
export interface Given {
  readonly listener: Listener;
  readonly watch: number;
  readonly what: readonly StoreEvent[] | boolean;
}

/**
 * Reads a push (see push.ts). `heard` gets each event once. Those who must be told first are; the others are told later, in this order. An event
 * is the same object for all who get it, as is a batch.
 */
export function readPush(
  frame: Cursor,
  find: (watch: number) => Listener | undefined,
  heard: (event: StoreEvent) => void = () => {},
): { revision: number; compacted: number; given: Given[] } {
  const revision = frame.f64();
  const compacted = frame.f64();
  const events: StoreEvent[] = [];
  const batches: StoreEvent[][] = [];
  const given: Given[] = [];
  const tell = (what: Given['what']): void => {
    const watch = frame.u32();
    const listener = find(watch);
    if (listener === undefined) return;
    if (!listener.first) given.push({ listener, watch, what });
    else if (typeof what === 'boolean') listener.synced(what);
    else listener.events(what);
  };
  while (frame.more) {
    const item = frame.u8();
    if (item === Item.event) {
      const event = readEvent(frame);
      events.push(event);
      heard(event);
    } else if (item === Item.batch) batches.push(readBatch(frame, events));
    else if (item === Item.give) {
      const batch = at(batches, frame.u32());
      for (let count = frame.u32(); count > 0; count--) tell(batch);
    } else if (item === Item.synced) tell(true);
    else if (item === Item.lagging) tell(false);
    else throw new BadFrame(`item ${item}`);
  }
  return { revision, compacted, given };
}

function readBatch(frame: Cursor, events: readonly StoreEvent[]): StoreEvent[] {
  const batch: StoreEvent[] = [];
  for (let count = frame.u32(); count > 0; count--) batch.push(at(events, frame.u32()));
  return batch;
}

function readEvent(frame: Cursor): StoreEvent {
  const flags = frame.u8();
  const key = frame.string();
  const revision = frame.f64();
  const created = frame.f64();
  const own = (flags & Flag.sameValue) === 0 ? frame.value() : undefined;
  const type = (flags & Flag.delete) === 0 ? 'put' : 'delete';
  if ((flags & Flag.previous) === 0) {
    if (own === undefined) throw new BadFrame('an event without a value');
    return { type, entry: { key, value: own, revision, created } };
  }
  const before = frame.f64();
  const previous: Entry = { key, revision: before, created: frame.f64(), value: frame.value() };
  return { type, entry: { key, value: own ?? previous.value, revision, created }, previous };
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new BadFrame(`number ${index} of ${list.length}`);
  return found;
}

/** What the other side tells of a watch. None of it throws. */
export interface Listener {
  /** Is told before anything else can see the revision. */
  readonly first: boolean;
  /** Whether this is its watch: of one push it may have given that up in the middle. */
  hears(watch: number): boolean;
  events(batch: readonly StoreEvent[]): void;
  synced(yes: boolean): void;
  /** All history was told. */
  watching(): void;
  /** The last that it is told. */
  ended(reason: StoreError): void;
}
