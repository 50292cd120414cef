/**
 * A frame is: 4 bytes how long the rest is, 1 byte what it is, 4 bytes whose it is (the number of a request or of a
 * watch, given by who asks), and what belongs to it. Numbers are big-endian; revisions are doubles.
 */
export const FRAME_HEAD = 9;
/** Far above any commit; a length beyond it is no length. */
export const MAX_FRAME = 1 << 30;
/** What both sides must agree on: the number of the first frame. */
export const VERSION = 1;

/** From who has no store. */
export const Ask = {
  get: 1,
  list: 2,
  create: 3,
  update: 4,
  delete: 5,
  watch: 6,
  /** Of a watch; not answered. */
  stop: 7,
  compact: 8,
  acquire: 9,
  keepAlive: 10,
  release: 11,
  check: 12,
} as const;

/** From who has it. */
export const Tell = {
  /** The first frame. */
  hello: 32,
  /** What watches are to know, and the revision up to which they know all of it; see push.ts. */
  push: 33,
  /** A watch has all history. */
  watching: 34,
  /** A watch cannot go on. */
  ended: 35,
  nothing: 36,
  entry: 37,
  /** Of a create or update: the revisions; who asked has the rest. */
  written: 38,
  /** The first entries of a long list. */
  part: 39,
  list: 40,
  lease: 41,
  yes: 42,
  no: 43,
  report: 44,
  error: 45,
} as const;

/** What a push is made of. */
export const Item = {
  event: 1,
  /** Events, by number, that go together to a sink. */
  batch: 2,
  /** Which watches get a batch. */
  give: 3,
  synced: 4,
  lagging: 5,
} as const;

/** Of an event. */
export const Flag = {
  delete: 1,
  previous: 2,
  /** The value is that of the version before. */
  sameValue: 4,
} as const;
