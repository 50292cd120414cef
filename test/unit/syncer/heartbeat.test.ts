import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer.ts';
import type { PhysicalCluster, PhysicalClusterStatus } from '../../../cluster/types.ts';
import type { ApiRequest, ApiResponse } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { Questions, runHeartbeat } from '../../../syncer/heartbeat.ts';
import { Outage } from '../../../syncer/outage.ts';
import { until } from '../../contract/until.ts';

const intervalMs = 2000;
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
let said: PhysicalClusterStatus[];
let questions: Questions;
let beating: Promise<void>;

beforeEach(() => {
  stop = new AbortController();
  cluster = { apiVersion: 'atoll.dev/v1alpha1', kind: 'PhysicalCluster', metadata: { name: 'east' } };
  [asked, answers, upstreamAnswers, said] = [[], [], [], []];
  questions = new Questions();
  beating = runHeartbeat({
    name: 'east',
    upstream: new Client(upstream),
    client: new Client(there),
    signal: stop.signal,
    logger: silentLogger,
    outage: new Outage('east', silentLogger),
    intervalMs,
    questions,
    nodes: { hasSynced: false } as Informer,
    unreadable: { list: () => [] } as never,
    namespaces: () => undefined,
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  stop.abort();
  await beating;
});

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
  expect(asked).toHaveLength(before + 1);
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
  const now = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
  await until(() => said.length === 2);
  const [second] = said[1]?.conditions ?? [];
  expect(second).toMatchObject({ status: 'True' });
  expect(Date.parse(second?.lastTransitionTime ?? '')).toBeGreaterThan(
    Date.parse(first?.lastTransitionTime ?? '') + 50_000,
  );
});
