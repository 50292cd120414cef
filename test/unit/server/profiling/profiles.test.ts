import { expect, test } from 'vitest';
import type { Exchange } from '../../../../apiserver/core.ts';
import { parseBare } from '../../../../apiserver/request.ts';
import { ProfilesBeside, type Said } from '../../../../server/profiling/beside.ts';
import { Profiler } from '../../../../server/profiling/profiler.ts';
import { Profiles } from '../../../../server/profiling/profiles.ts';
import { RemoteProfiler } from '../../../../server/profiling/remote.ts';
import type { Answer, Question } from '../../../../server/profiling/types.ts';
import { profilesView } from '../../../../server/profiling/view.ts';

const question: Question = { process: 'first', kind: 'profile', seconds: 0.05 };

function profileIn(answer: Answer): { nodes?: object[]; head?: object } {
  if (!('profile' in answer)) throw new Error(answer.message);
  return JSON.parse(answer.profile);
}

test('a process looks at itself, for one at a time', async () => {
  const profiler = new Profiler();
  const first = profiler.take(question);
  expect(await profiler.take(question)).toMatchObject({ failed: 'busy' });
  expect(profileIn(await first).nodes?.length).toBeGreaterThan(0);
  expect(profileIn(await profiler.take({ ...question, kind: 'heap' })).head).toBeDefined();
});

test('whichever process is meant is asked', async () => {
  const profiles = new Profiles();
  const asked: [number, Question][] = [];
  const remote = new RemoteProfiler((...what) => asked.push(what));
  profiles.join('control', remote);
  const answer = profiles.take({ ...question, process: 'control' });
  expect(asked).toEqual([[1, { ...question, process: 'control' }]]);
  remote.answered(1, { profile: '{}' });
  expect(await answer).toEqual({ profile: '{}' });
  expect(await profiles.take({ ...question, process: 'serving-1' })).toEqual({
    failed: 'unknown',
    message: 'there is no process "serving-1": first, control',
  });
  const late = profiles.take({ ...question, process: 'control' });
  profiles.leave('control', remote);
  expect(await late).toMatchObject({ failed: 'gone' });
  expect(await profiles.take({ ...question, process: 'control' })).toMatchObject({ failed: 'unknown' });
});

test('one that ended does not take its successor along', async () => {
  const profiles = new Profiles();
  const [former, next] = [new RemoteProfiler(() => undefined), new RemoteProfiler(() => undefined)];
  profiles.join('control', former);
  profiles.join('control', next);
  profiles.leave('control', former);
  const answer = profiles.take({ ...question, process: 'control' });
  next.answered(1, { profile: '{}' });
  expect(await answer).toEqual({ profile: '{}' });
});

test('who is asked beside the first process has the first ask whoever is meant', async () => {
  const profiles = new Profiles();
  const said: Said[] = [];
  const beside: ProfilesBeside = new ProfilesBeside((what) => {
    said.push(what);
    if (what.report === 'profiled') remote.answered(what.id, what.answer);
    else
      void profiles.take(what.question).then((answer) => beside.told({ ...what, order: 'profiled', answer }));
  });
  const remote = new RemoteProfiler((id, what) => void beside.told({ order: 'profile', id, question: what }));
  profiles.join('serving-1', remote);
  expect(profileIn(await beside.take({ ...question, process: 'serving-1' })).nodes).toBeDefined();
  expect(said.map(({ report }) => report)).toEqual(['profile', 'profiled']);
});

async function asked(url: string, answer: Answer, method = 'GET') {
  const questions: Question[] = [];
  const view = profilesView(async (what) => {
    questions.push(what);
    return answer;
  });
  const info = parseBare(method, url);
  expect(view.owns(info.path)).toBe(true);
  const exchange = { info, request: { method, url, headers: {} } } as unknown as Exchange;
  const response = await view
    .handle(exchange)
    .catch(({ code, message }: { code: number; message: string }) => ({ status: code, message }));
  return { ...response, question: questions[0] };
}

const path = '/debug/pprof/profile';

test.for<[string, string, Answer, object]>([
  [
    'the first, for ten seconds',
    path,
    { profile: '{}' },
    { status: 200, question: { ...question, seconds: 10 } },
  ],
  [
    'another, for longer',
    '/clusters/root/debug/pprof/heap?seconds=50&process=control',
    { profile: '{}' },
    { status: 200, question: { process: 'control', kind: 'heap', seconds: 50 } },
  ],
  ['too long', `${path}?seconds=51`, { profile: '{}' }, { status: 400, question: undefined }],
  ['no time', `${path}?seconds=x`, { profile: '{}' }, { status: 400, question: undefined }],
  ['twice at once', path, { failed: 'busy', message: 'b' }, { status: 429, message: 'b' }],
  ['of nobody', path, { failed: 'unknown', message: 'u' }, { status: 404, message: 'u' }],
  ['of one that ended', path, { failed: 'gone', message: 'g' }, { status: 503, message: 'g' }],
])('%s', async ([, url, answer, expected]) => {
  expect(await asked(url, answer)).toMatchObject(expected);
});

test('is for administrators of everything alone', async () => {
  const view = profilesView(async () => ({ profile: '{}' }));
  const may = (...groups: string[]) => view.authorize({ user: { name: 'ann', groups } } as never);
  expect([may('system:masters'), may('system:authenticated')]).toEqual([
    { allowed: true },
    { allowed: false },
  ]);
  expect(await asked(path, { profile: '{}' }, 'POST')).toMatchObject({ status: 405, question: undefined });
  expect(view.owns('/clusters/root:a/debug/pprof/profile')).toBe(false);
});
