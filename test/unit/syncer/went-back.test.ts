import { expect, test } from 'vitest';
import type { Transport } from '../../../kube/http.ts';
import { silentLogger } from '../../../kube/log.ts';
import { anew } from '../../../syncer/anew.ts';
import type { SyncerOptions } from '../../../syncer/syncer.ts';
import { WentBack, watchedIn } from '../../../syncer/went-back.ts';

const { signal } = new AbortController();

/** At this revision; what it was asked for. */
function clusterAt(revision: string | undefined) {
  const asked: string[] = [];
  const physical: Transport = async ({ url }) => {
    asked.push(url);
    const list = { kind: 'PodList', metadata: { resourceVersion: revision }, items: [] };
    const answer = revision === undefined ? { kind: 'Status', code: 500 } : list;
    return {
      status: revision === undefined ? 500 : 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(answer)),
    };
  };
  return { asked, past: new WentBack(physical) };
}
const watch = (path: string, from: string) => ({
  method: 'GET',
  url: `${path}?watch=true&resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=9`,
  headers: {},
});

test.each<[string, string | undefined, string, string, boolean, number]>([
  ['of which more has happened since', '120', '/api/v1/pods', '100', false, 1],
  ['of which nothing has happened since', '100', '/api/v1/pods', '100', false, 1],
  ['that is to come to where it was', '80', '/api/v1/pods', '100', true, 1],
  ['that does not say', undefined, '/api/v1/pods', '100', false, 1],
  ['whose revisions are no numbers', 'x1', '/api/v1/pods', '100', false, 1],
  ['of kinds that somebody else may serve', '80', '/apis/example.com/v1/things', '100', false, 0],
  ['of which all is told anew', '80', '/api/v1/pods', '0', false, 0],
])('a watch goes on in a cluster as it was before, or not: %s', async (_, revision, path, from, is, asks) => {
  const { asked, past } = clusterAt(revision);
  expect(await past.isBefore(watch(path, from), signal), 'what was just read').toBe(false);
  expect(await past.isBefore(watch(path, from), signal), 'without a doubt').toBe(false);
  expect(asked).toEqual([]);
  past.doubt();
  expect(await past.isBefore(watch(path, from), signal)).toBe(is);
  expect(asked).toHaveLength(asks);
  if (revision !== '120') return;
  expect(await past.isBefore(watch(path, from), signal), 'asked once').toBe(false);
  expect(asked).toHaveLength(asks);
});

test('what is asked for is one of what is watched', () => {
  const url = '/api/v1/pods?watch=true&resourceVersion=7&labelSelector=a%3Db&allowWatchBookmarks=true';
  expect(watchedIn(url)).toEqual({ collection: '/api/v1/pods?labelSelector=a%3Db&limit=1', revision: 7 });
});

test('a syncer begins anew each time that its cluster went back, and ends with who runs it', async () => {
  const life = new AbortController();
  const runs: SyncerOptions[] = [];
  const start = (options: SyncerOptions) => {
    runs.push(options);
    const stopped = new Promise<void>((resolve) => options.signal.addEventListener('abort', () => resolve()));
    return { stopped };
  };
  const options = { name: 'east', signal: life.signal, logger: silentLogger } as unknown as SyncerOptions;
  const done = anew(options, start);
  for (let run = 0; run < 2; run += 1) {
    runs[run]?.wentBack?.();
    runs[run]?.wentBack?.();
    await new Promise(setImmediate);
    expect(runs).toHaveLength(run + 2);
  }
  life.abort();
  await done;
  expect(runs).toHaveLength(3);
});
