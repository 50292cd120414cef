import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import { TransportError } from '../../../client/errors.ts';
import type { PhysicalCluster, PhysicalClusterStatus } from '../../../cluster/types.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { runHeartbeat } from '../../../syncer/heartbeat.ts';
import { Outage } from '../../../syncer/outage.ts';
import { Questions } from '../../../syncer/questions.ts';

const intervalMs = 2000;
/** As fine as the fake clock goes on. */
const stepMs = 10;

/** Lets time pass until that is so. */
async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 600_000; !holds(); await vi.advanceTimersByTimeAsync(stepMs))
    if (performance.now() > end) throw new Error(`not within ten minutes: ${holds}`);
}
const answer = (status: number, body: object, headers = {}): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
});
const tooMany = (retryAfter = '1') => ({
  status: 429,
  headers: { 'content-type': 'text/plain', 'retry-after': retryAfter },
  body: Buffer.from('Too many requests, please try again later.\n'),
});

let stop: AbortController;
let cluster: PhysicalCluster;
/** When the cluster was asked, and what it answers next; what is left out is well. */
let asked: number[];
let answers: (() => ApiResponse)[];
let upstreamAnswers: (() => ApiResponse)[];
let paths: string[];
let said: PhysicalClusterStatus[];
let questions: Questions;
/** Whether what would tell of its end is open. */
let isWatched: boolean;
let namespaces: number | undefined;
/** It is known that nothing of ours is there. */
let rests: boolean;
let hasHome: 'none' | 'untold' | 'hangs';
let beating: Promise<void>;
/** Whether what is no news may be said with others; when that was done, and how to say that it was lost. */
let isTogether: boolean;
let noted: { began: number; again: () => void }[];
/** When whoever led before last heard of it. */
let heardAt: number | undefined;
let seen: PhysicalCluster | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
  cluster = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PhysicalCluster', metadata: { name: 'east' } };
  [asked, answers, upstreamAnswers, said, paths] = [[], [], [], [], []];
  [isWatched, namespaces, rests, hasHome] = [false, undefined, false, 'none'];
  [isTogether, noted, heardAt, seen] = [false, [], undefined, undefined];
  questions = new Questions();
  start();
});
afterEach(async () => {
  stop.abort();
  await beating;
  vi.useRealTimers();
});

function start(): void {
  beating = runHeartbeat({
    name: 'east',
    upstream: new Client(upstream),
    client: new Client(there),
    signal: stop.signal,
    logger: silentLogger,
    outage: new Outage('east', silentLogger),
    intervalMs,
    questions,
    offers: () => undefined,
    nodeLabels: () => undefined,
    unreadable: {
      list: () => ({ Forbidden: [], Endless: [], Unanswered: [] }),
      get isWatched() {
        return isWatched;
      },
    },
    namespaces: () => namespaces,
    rests: () => rests,
    hasHome: async (soon) => {
      paths.push('home');
      asked.push(performance.now());
      if (hasHome === 'hangs') await new Promise((_, end) => soon.addEventListener('abort', end));
      return hasHome === 'untold' ? undefined : false;
    },
    together: {
      note(began, again) {
        if (isTogether) noted.push({ began, again });
        return isTogether;
      },
      heardAt: () => heardAt,
      seen: () => seen,
    },
  });
}

async function upstream({ method, body }: ApiRequest): Promise<ApiResponse> {
  const instead = upstreamAnswers.shift();
  if (instead) return instead();
  if (method === 'PATCH') {
    const { status } = JSON.parse(Buffer.from(body ?? []).toString());
    said.push(status);
    cluster = { ...cluster, status: { ...cluster.status, ...status } };
  }
  return answer(200, cluster);
}

async function there({ url }: ApiRequest): Promise<ApiResponse> {
  paths.push(url);
  // What it serves follows what it was asked before at once, or is what a beat begins with.
  if (url === '/apis' && performance.now() - (asked.at(-1) ?? 0) > 100) asked.push(performance.now());
  if (url.includes('/namespaces/')) {
    asked.push(performance.now());
    const instead = answers.shift();
    if (instead) return instead();
    return answer(200, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: 'u' } });
  }
  return answer(200, { gitVersion: 'v1.36.3', kind: 'APIGroupList', groups: [], resources: [] });
}

const verdicts = () => said.map(({ conditions }) => conditions?.find(({ type }) => type === 'Ready')?.reason);

test('a cluster that is busy for a moment is asked again when it said, and is not lost for it', async () => {
  await until(() => said.length === 1);
  answers = [() => tooMany(), () => tooMany()];
  await until(() => asked.length === 2);
  // Whoever wants to know waits, too.
  questions.ask(Date.now() + 60_000);
  await until(() => said.length === 2);
  expect(verdicts()).toEqual(['SyncerConnected', 'SyncerConnected']);
  expect(asked).toHaveLength(4);
  const waits = asked.slice(2).map((at, index) => at - (asked[index + 1] ?? 0));
  // A timer may be a millisecond early.
  for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(990);
});

test('who it was is not written again by a beat that did not hear it: somebody may have taken it back', async () => {
  await until(() => said.length === 1);
  expect(cluster.status?.clusterUID).toBe('u');
  const taken = () => {
    const { clusterUID: _, ...status } = cluster.status ?? {};
    cluster = { ...cluster, status };
    throw new TransportError('ECONNREFUSED', 'connect ECONNREFUSED');
  };
  answers = [taken];
  await until(() => said.length === 2);
  expect(verdicts()[1]).toBe('Unreachable');
  expect(cluster.status?.clusterUID).toBeUndefined();
});

test('one that stays busy is Unreachable once others would be silent, and says why', async () => {
  await until(() => said.length === 1);
  const since = Date.now();
  answers = Array(20).fill(() => tooMany());
  await until(() => said.length === 2);
  expect(verdicts()).toEqual(['SyncerConnected', 'Unreachable']);
  expect(JSON.stringify(said[1])).toContain('429');
  expect(Date.now() - since).toBeGreaterThanOrEqual(intervalMs);
  expect(asked.length).toBeGreaterThanOrEqual(3);
});

test('where the server itself is busy its word is given as soon as it may be', async () => {
  await until(() => said.length === 1);
  questions.ask(Date.now());
  upstreamAnswers = [
    () => {
      answers.push(() => tooMany());
      return tooMany();
    },
  ];
  await until(() => said.length === 2);
  expect(verdicts()).toEqual(['SyncerConnected', 'SyncerConnected']);
});

test('whoever is busy is asked as often as ever, whatever it says, and no more often once it is Unreachable', async () => {
  await until(() => said.length === 1);
  answers = [() => tooMany('60')];
  await until(() => said.length === 2);
  expect(verdicts()).toEqual(['SyncerConnected', 'SyncerConnected']);
  answers = Array(20).fill(() => tooMany('0'));
  await until(() => said.length === 3);
  const before = asked.length;
  await until(() => said.length === 4);
  expect(verdicts().slice(2)).toEqual(['Unreachable', 'Unreachable']);
  // Nothing of it is news, so that every other beat says it.
  expect(asked).toHaveLength(before + 2);
});

test('what others said of it while nothing was heard is what its next word is told from', async () => {
  await until(() => said.length === 1);
  const [first] = said[0]?.conditions ?? [];
  const Unknown = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'SyncerSilent',
    message: '',
    lastTransitionTime: 'x',
  };
  cluster = { ...cluster, status: { ...cluster.status, conditions: [Unknown] } as PhysicalClusterStatus };
  vi.setSystemTime(Date.now() + 60_000);
  await until(() => said.length === 2);
  const [second] = said[1]?.conditions ?? [];
  expect(second).toMatchObject({ status: 'True' });
  expect(Date.parse(second?.lastTransitionTime ?? '')).toBeGreaterThan(
    Date.parse(first?.lastTransitionTime ?? '') + 50_000,
  );
});

test('what is no news is said with every other beat, and at once to whoever asks', async () => {
  await until(() => said.length === 1);
  await until(() => asked.length === 2);
  await until(() => asked.length === 3);
  await until(() => said.length === 2);
  // A beat that says nothing has answered nobody.
  await until(() => asked.length === 4);
  const since = Date.now() - 1;
  questions.ask(since);
  await until(() => said.length === 3);
  expect(asked).toHaveLength(5);
  expect(Date.parse(said[2]?.lastHeartbeatTime ?? '')).toBeGreaterThanOrEqual(since);
});

test('where watches are open that would end it is asked each other time', async () => {
  await until(() => said.length === 1);
  // Whoever has just become Ready is asked again as soon as ever.
  await until(() => asked.length === 2);
  isWatched = true;
  await until(() => asked.length === 4);
  const [, , third = 0, fourth = 0] = asked;
  expect(fourth - third).toBeGreaterThanOrEqual(2 * intervalMs - 10);
  expect(said).toHaveLength(3);
  isWatched = false;
  await until(() => asked.length === 5);
  expect((asked[4] ?? 0) - fourth).toBeLessThan(2 * intervalMs);
});

test('what is watched there and changes is said with the next interval', async () => {
  await until(() => said.length === 1);
  await until(() => asked.length === 2);
  isWatched = true;
  await until(() => asked.length === 3);
  namespaces = 1;
  await until(() => said.at(-1)?.namespaces === 1);
  expect(asked).toHaveLength(4);
  expect((asked[3] ?? 0) - (asked[2] ?? 0)).toBeLessThan(2 * intervalMs);
});

test('the first beat that fails says when it last answered, said or not', async () => {
  await until(() => said.length === 1);
  await until(() => asked.length === 2);
  const unsaid = Date.now();
  answers = Array(9).fill(() => {
    throw new TransportError('ECONNREFUSED', 'no');
  });
  await until(() => said.length === 2);
  expect(asked).toHaveLength(3);
  expect(verdicts()).toEqual(['SyncerConnected', 'Unreachable']);
  const { lastAnswerTime = '', conditions } = said[1] ?? {};
  expect(Math.abs(Date.parse(lastAnswerTime) - unsaid)).toBeLessThan(1500);
  expect(lastAnswerTime).not.toBe(said[0]?.lastAnswerTime);
  expect(conditions?.[0]?.message).toContain(lastAnswerTime);
});

test('its version is asked for once, and not with each beat', async () => {
  await until(() => asked.length === 4);
  expect(paths.filter((url) => url === '/version')).toHaveLength(1);
  expect(said.map(({ version }) => version)).toEqual(['v1.36.3', undefined]);
  expect(cluster.status?.version).toBe('v1.36.3');
});

test('what is no news is said with others where that can be, and of it alone to whoever asks', async () => {
  await until(() => said.length === 1);
  isTogether = true;
  await until(() => noted.length === 2);
  expect(said).toHaveLength(1);
  expect(asked).toHaveLength(5);
  const since = Date.now() - 1;
  questions.ask(since);
  await until(() => said.length === 2);
  expect(Date.parse(said[1]?.lastHeartbeatTime ?? '')).toBeGreaterThanOrEqual(since);
  namespaces = 1;
  await until(() => said.length === 3);
  expect(said[2]?.namespaces).toBe(1);
});

test('what was said with others and lost is said of it alone, at once', async () => {
  await until(() => said.length === 1);
  isTogether = true;
  await until(() => noted.length === 1);
  const lost = Date.now();
  noted[0]?.again();
  await until(() => said.length === 2);
  expect(Date.now() - lost).toBeLessThan(intervalMs);
});

test('of what does not answer nothing is said with others', async () => {
  await until(() => said.length === 1);
  isTogether = true;
  answers = Array(9).fill(() => {
    throw new TransportError('ECONNREFUSED', 'no');
  });
  await until(() => said.length === 3);
  expect(verdicts()).toEqual(['SyncerConnected', 'Unreachable', 'Unreachable']);
  expect(noted).toEqual([]);
});

test('whoever else writes it is answered with the next beat, though nothing is new', async () => {
  cluster = { ...cluster, metadata: { name: 'east', resourceVersion: '1' } };
  await until(() => said.length === 1);
  isTogether = true;
  seen = cluster;
  await until(() => noted.length === 1);
  expect(said).toHaveLength(1);
  const Unknown = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'SyncerSilent',
    message: '',
    lastTransitionTime: 'x',
  };
  cluster = {
    ...cluster,
    metadata: { name: 'east', resourceVersion: '2' },
    status: { ...cluster.status, conditions: [Unknown] } as PhysicalClusterStatus,
  };
  seen = cluster;
  const before = asked.length;
  await until(() => said.length === 2);
  expect(asked).toHaveLength(before + 1);
  expect(verdicts()).toEqual(['SyncerConnected', 'SyncerConnected']);
});

test('one that is silent for whoever takes it over has answered when it was last said to, with others', async () => {
  stop.abort();
  await beating;
  [stop, said] = [new AbortController(), []];
  heardAt = Date.now() - 5_000;
  const long = new Date(heardAt - 200_000).toISOString();
  cluster = { ...cluster, status: { lastHeartbeatTime: long, lastAnswerTime: long } };
  answers = Array(9).fill(() => {
    throw new TransportError('ECONNREFUSED', 'no');
  });
  start();
  await until(() => said.length === 1);
  expect(verdicts()).toEqual(['Unreachable']);
  expect(Math.abs(Date.parse(said[0]?.lastAnswerTime ?? '') - heardAt)).toBeLessThan(1_000);
});

const restingMs = 6 * intervalMs;

/** Until it has said that it rests, and is asked after it has been left alone for the first time. */
async function untilItRests(): Promise<void> {
  [isWatched, rests] = [true, true];
  await until(() => cluster.status?.silentAfterSeconds !== undefined);
  const said = asked.length;
  await until(() => asked.length === said + 2);
}

test('one that rests is asked each sixth interval, once it has said for how long it may be silent', async () => {
  await until(() => said.length === 1);
  expect(said[0]?.silentAfterSeconds).toBeUndefined();
  await untilItRests();
  expect(cluster.status?.silentAfterSeconds).toBe((restingMs + 3 * 3_000) / 1000);
  const [last = 0, before = 0] = asked.slice().reverse();
  expect(last - before).toBeGreaterThan(restingMs - 100);
  expect(last - before).toBeLessThan(restingMs + 1000);
});

test('one that rests is asked one thing at a time: what has to be known anyway, and who it is seldom', async () => {
  await untilItRests();
  const before = paths.length;
  const settled = asked.length;
  await until(() => asked.length === settled + 4);
  const turns = paths.slice(before);
  expect(turns.slice(0, 2).sort()).toEqual(['/apis', 'home']);
  expect(turns).toEqual([turns[0], turns[1], turns[0], turns[1]]);
  await until(() => paths.filter((url) => url === '/version').length === 2);
  const identities = paths.slice(before).filter((url) => url.includes('kube-system'));
  expect(identities).toHaveLength(1);
  expect(verdicts().every((reason) => reason === 'SyncerConnected')).toBe(true);
});

test.each(['untold', 'hangs'] as const)(
  'one that rests and does not say whether a namespace is there (%s) is asked who it is instead',
  async (how) => {
    await untilItRests();
    hasHome = how;
    const before = paths.length;
    await until(() => paths.slice(before).filter((url) => url === 'home').length === 2);
    await until(() => paths.at(-1)?.includes('kube-system') === true);
    expect(verdicts().every((reason) => reason === 'SyncerConnected')).toBe(true);
    answers = [
      () => {
        throw new TransportError('ECONNREFUSED', 'no');
      },
    ];
    await until(() => verdicts().at(-1) === 'Unreachable');
  },
);

test('where that could not be said it is asked as often as ever', async () => {
  await until(() => said.length === 1);
  [isWatched, rests] = [true, true];
  upstreamAnswers = Array(200).fill(() =>
    answer(500, { kind: 'Status', code: 500, reason: 'InternalError' }),
  );
  await until(() => upstreamAnswers.length < 190);
  expect(cluster.status?.silentAfterSeconds).toBeUndefined();
  const waits = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
  for (const wait of waits) expect(wait).toBeLessThan(2 * intervalMs + 100);
});

test.each([
  [
    'its watches fail',
    () => {
      isWatched = false;
    },
  ],
  [
    'what is watched there has changed',
    () => {
      namespaces = 1;
    },
  ],
  [
    'somebody else has written it',
    () => {
      seen = { ...cluster, metadata: { name: 'east', resourceVersion: '2' } };
    },
  ],
])('one that rests is asked soon where %s', async (_why, happens) => {
  await untilItRests();
  const [before, since] = [asked.length, performance.now()];
  happens();
  await until(() => asked.length > before);
  // What it would be asked after anyway is three times as long.
  expect(performance.now() - since).toBeLessThan(3 * intervalMs);
});

test('one that rests and gets something is asked at once, and says that it may be silent for no longer than others', async () => {
  await untilItRests();
  const [before, since] = [asked.length, performance.now()];
  rests = false;
  // Later than that beat began.
  await vi.advanceTimersByTimeAsync(stepMs);
  questions.ask(Date.now());
  await until(() => asked.length > before);
  expect(performance.now() - since).toBeLessThan(500);
  await until(() => cluster.status?.silentAfterSeconds === (4 * intervalMs) / 1000);
  expect(asked).toHaveLength(before + 1);
  await until(() => asked.length === before + 2);
  expect(asked.at(-1)).toBeLessThan(since + 3 * intervalMs);
});
