import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { Idle } from '../../../../apiserver/forward/idle.ts';
import { type Place, Places } from '../../../../apiserver/forward/places.ts';

const ended: string[] = [];
const place = (cluster: string, name: string): Place => ({
  target: { cluster, namespace: 'ns', pod: name, uid: name, port: 443 },
  end: () => void ended.push(name),
});

test('who has the most forwards loses the oldest of them to whoever asks for one more', () => {
  const places = new Places(4);
  for (const name of ['a1', 'a2', 'a3']) places.take(place('a', name));
  const release = places.take(place('b', 'b1'));
  places.take(place('c', 'c1'));
  expect(ended.splice(0)).toEqual(['a1']);
  places.take(place('c', 'c2'));
  expect(ended.splice(0)).toEqual(['a2']);
  expect(places.count).toBe(4);
  release();
  release();
  expect(places.count).toBe(3);
  places.take(place('d', 'd1'));
  expect(ended).toEqual([]);
  expect([...places].map(({ target }) => target.cluster).sort()).toEqual(['a', 'c', 'c', 'd']);
});

test('whose own forwards are all there are loses its own', () => {
  const places = new Places(2);
  for (const name of ['a1', 'a2', 'a3']) places.take(place('a', name));
  expect(ended.splice(0)).toEqual(['a1']);
  expect(places.count).toBe(2);
});

const socket = () => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });

test('so many connections of a logical cluster wait, and of all', () => {
  const idle = new Idle({ ofCluster: 2, ofAll: 3 });
  const [a1, a2, b1] = [socket(), socket(), socket()];
  expect([idle.keep(a1, 'a'), idle.keep(a2, 'a'), idle.keep(socket(), 'a')]).toEqual([true, true, false]);
  expect([idle.keep(b1, 'b'), idle.keep(socket(), 'c')]).toEqual([true, false]);
  idle.forget(a1);
  idle.forget(a1);
  expect(idle.count).toBe(2);
  expect(idle.keep(a1, 'a')).toBe(true);
});

test('one that is closed, or says anything, waits no more', async () => {
  const idle = new Idle();
  const [closed, talks, used] = [socket(), socket(), socket()];
  for (const one of [closed, talks, used]) idle.keep(one, 'a');
  idle.forget(used);
  closed.destroy();
  for (const one of [talks, used]) one.push('hello');
  await new Promise((resolve) => talks.once('close', resolve));
  expect([idle.count, closed.destroyed, used.destroyed]).toEqual([0, true, false]);
  expect(idle.keep(talks, 'a')).toBe(false);
});
