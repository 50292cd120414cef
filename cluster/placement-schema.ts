import type { ObjectSchema } from '../kube/schema/schema.ts';
import { conditions } from './condition-schema.ts';
import type { Copies } from './copies.ts';
import type { NoRoom, Unplaced } from './no-room.ts';
import { kindRule } from './placed-resource-schema.ts';
import { any, type Fields, flag, int32, int64, intOrString, list, map, object, text } from './schema.ts';
import type { PlacedSpread } from './spread.ts';
import { texts } from './texts.ts';
import type {
  ClosureRef,
  ClusterSlice,
  Filled,
  ObjectRef,
  PlacementSpec,
  PlacementStatus,
  Scale,
  Share,
} from './types.ts';

const numbers = {
  replicas: int32,
  scaled: int32,
  maxReplicas: int32,
  completions: int32,
  parallelism: int32,
  ordinalsStart: int32,
  suspend: flag,
  paused: flag,
  withdrawn: flag,
};

const share = object(
  {
    ...numbers,
    phase: text,
    settled: object(
      { replicas: int32, ordinalsStart: int32 } satisfies Fields<NonNullable<Share['settled']>>,
      texts.settled,
    ),
    maxSurge: intOrString,
    maxUnavailable: intOrString,
    minAvailable: int32,
    hard: map(text),
    readySince: text,
    heardSince: text,
    held: object(
      { replicas: int32, ordinalsStart: int32, since: text } satisfies Fields<NonNullable<Share['held']>>,
      texts.held,
    ),
    came: int32,
    ranAt: text,
    cameBack: text,
    fresh: flag,
    surplus: flag,
    anew: flag,
    former: flag,
    claims: list(text),
    withdrawing: object(
      { since: text, from: text, closedSince: text } satisfies Fields<NonNullable<Share['withdrawing']>>,
      texts.withdrawing,
    ),
    awaitedSince: text,
    goal: object(
      { replicas: int32, ordinalsStart: int32 } satisfies Fields<NonNullable<Share['goal']>>,
      texts.settled,
    ),
  } satisfies Fields<Share>,
  texts.share,
);

const slice = object(
  {
    present: flag,
    orphans: flag,
    observedGeneration: int64,
    share: object(numbers satisfies Fields<NonNullable<ClusterSlice['share']>>, texts.numbers),
    pods: object(
      {
        since: text,
        count: int32,
        ordinals: object({ start: int32, end: int32 }, texts.ordinals),
      } satisfies Fields<NonNullable<ClusterSlice['pods']>>,
      texts.pods,
    ),
    claims: list(text),
    nodeName: text,
    owner: object({ uid: text }, texts.owner),
    unplaced: text,
    status: any,
    refusedLabels: { type: 'list', items: text, listType: 'set' },
    error: object({ reason: text, message: text }, texts.error),
    applied: text,
  } satisfies Fields<ClusterSlice>,
  texts.slice,
);

const ref = { group: text, version: text, resource: text, kind: text, name: text, uid: text, rule: kindRule };
const required = { group: text, resource: text, name: text };

export const placementSpec: ObjectSchema = object(
  {
    ref: object(ref satisfies Fields<ObjectRef>, texts.ref),
    namespaceUid: text,
    physicalNamespace: text,
    namespaceLabels: map(text),
    clusters: { type: 'list', items: text, listType: 'set' },
    wanted: { type: 'list', items: text, listType: 'set' },
    policies: list(text),
    reasons: map(text),
    blocked: flag,
    waits: { type: 'list', items: text, listType: 'set' },
    leavingSince: map(text),
    rebalancedAt: text,
    givenUp: map(list(text)),
    copiedFrom: { type: 'list', items: text, listType: 'set' },
    copies: object({ claims: list(text), except: list(text) } satisfies Fields<Copies>, texts.copies),
    spread: object(
      {
        topologyKey: text,
        replicas: map(int32),
        maxSkew: int32,
        values: map(text),
        order: list(text),
        most: map(int32),
      } satisfies Fields<PlacedSpread>,
      texts.placedSpread,
    ),
    filled: list(object({ cluster: text, pods: int32 } satisfies Fields<Filled>, texts.filled)),
    noRoom: object(
      {
        pods: int32,
        of: int32,
        requests: map(text),
        on: list(text),
        refused: list(text),
      } satisfies Fields<NoRoom>,
      texts.noRoom,
    ),
    unplaced: object({ pods: int32, of: int32 } satisfies Fields<Unplaced>, texts.unplaced),
    requires: list(object(required satisfies Fields<ClosureRef>, texts.closureRef)),
    shares: map(share),
    scale: object(
      {
        replicas: int32,
        generation: int64,
        clusters: { type: 'list', items: text, listType: 'set' },
        still: flag,
      } satisfies Fields<Scale>,
      texts.scale,
    ),
    orphaned: text,
  } satisfies Fields<PlacementSpec>,
  texts.placementSpec,
);

export const placementStatus: ObjectSchema = object(
  { clusters: map(slice), bound: list(text), conditions } satisfies Fields<PlacementStatus>,
  texts.placementStatus,
);
