import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { StatusError } from '../../../kube/status.ts';
import { type Reading, Unreadable } from '../../../syncer/unreadable.ts';

const podKind = { group: '', resource: 'pods' };
const serviceKind = { group: '', resource: 'services' };
const forbidden = new StatusError(403, 'Forbidden', 'no');
const endless = new TransportError('EENDLESS', 'no end');
const silent = new TransportError('ETIMEDOUT', 'no answer');
const unserved = new StatusError(404, 'NotFound', 'the server could not find the requested resource');
const none = { Forbidden: [], Endless: [], Unanswered: [] };

let changes = 0;
let kinds: Unreadable;
let pods: Reading;
let services: Reading;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  changes = 0;
  kinds = new Unreadable(() => changes++);
  pods = kinds.reading(podKind);
  services = kinds.reading(serviceKind);
});
afterEach(() => vi.useRealTimers());

test('each cause is told as what it is', () => {
  void pods.onOutcome(forbidden);
  void services.onOutcome(endless);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'], Endless: ['services'] });
  void services.onOutcome(forbidden);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods', 'services'] });
  void pods.onOutcome(undefined);
  kinds.note(serviceKind);
  expect(kinds.list()).toEqual(none);
  expect(changes).toBe(5);
});

test('what was refused is not, once the cluster serves no such kind', () => {
  void pods.onOutcome(forbidden);
  kinds.note(serviceKind, forbidden);
  void pods.onOutcome(unserved);
  kinds.note(serviceKind, unserved);
  expect(kinds.list()).toEqual(none);
});

test('what is read in vain is told of when it lasts', () => {
  void pods.onOutcome(silent);
  expect([kinds.has(podKind), kinds.list()]).toEqual([false, none]);
  vi.advanceTimersByTime(9_000);
  void pods.onOutcome(silent);
  expect(kinds.list()).toEqual(none);
  vi.advanceTimersByTime(1_000);
  expect(kinds.list()).toEqual({ ...none, Unanswered: ['pods'] });
  void pods.onOutcome(undefined);
  expect(kinds.list()).toEqual(none);
});

test('what is not answered says nothing of what was refused, a kind that is not served, or that nobody reads, nothing at all', () => {
  void pods.onOutcome(forbidden);
  void pods.onOutcome(silent);
  kinds.note(podKind, silent);
  void services.onOutcome(unserved);
  vi.advanceTimersByTime(20_000);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'] });
  void services.onOutcome(silent);
  services.onRest();
  pods.onRest();
  vi.advanceTimersByTime(20_000);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'] });
});

test('who reads in vain does so whatever others are answered of the kind', async () => {
  const soon = pods.onOutcome(silent);
  vi.advanceTimersByTime(10_000);
  const labelled = kinds.reading(podKind);
  void labelled.onOutcome(silent);
  kinds.note(podKind);
  void labelled.onOutcome(undefined);
  expect(kinds.list()).toEqual({ ...none, Unanswered: ['pods'] });
  void labelled.onOutcome(silent);
  labelled.onRest();
  expect(kinds.list()).toEqual({ ...none, Unanswered: ['pods'] });
  kinds.answered(false);
  await soon;
  void pods.onOutcome(undefined);
  expect(kinds.list()).toEqual(none);
});

test('one answer says that a kind may be read again, and not that the list of all ends', () => {
  void pods.onOutcome(forbidden);
  kinds.note(podKind);
  expect(kinds.list()).toEqual(none);
  void services.onOutcome(endless);
  kinds.note(serviceKind);
  expect(kinds.list()).toEqual({ ...none, Endless: ['services'] });
  services.onRest();
  kinds.note(serviceKind);
  expect(kinds.list()).toEqual(none);
});

test('a kind that was silent once, and is not served then, is not waited for', () => {
  void services.onOutcome(silent);
  for (let tries = 0; tries < 10; tries++) {
    vi.advanceTimersByTime(30_000);
    expect(services.onOutcome(unserved)).toBeUndefined();
  }
  expect(kinds.list()).toEqual(none);
});

test('how long nobody answers of a kind counts anew when the cluster is back: all is just being read again', () => {
  void pods.onOutcome(silent);
  vi.advanceTimersByTime(60_000);
  kinds.answered(true);
  expect(kinds.list()).toEqual(none);
  vi.advanceTimersByTime(9_999);
  kinds.answered(false);
  void pods.onOutcome(silent);
  expect(kinds.list()).toEqual(none);
  vi.advanceTimersByTime(1);
  expect(kinds.list()).toEqual({ ...none, Unanswered: ['pods'] });
});

test('it is watched while a watch is open, and nothing fails that may be read', () => {
  expect(kinds.isWatched).toBe(false);
  void pods.onOutcome(undefined);
  expect(kinds.isWatched).toBe(true);
  void services.onOutcome(forbidden);
  expect(kinds.isWatched).toBe(true);
  void pods.onOutcome(silent);
  expect(kinds.isWatched).toBe(false);
  void pods.onOutcome(undefined);
  const nodes = kinds.reading({ group: '', resource: 'nodes' });
  void nodes.onOutcome(silent);
  expect(kinds.isWatched).toBe(false);
  nodes.onRest();
  expect(kinds.isWatched).toBe(true);
  pods.onRest();
  expect(kinds.isWatched).toBe(false);
});

test('what is not served, or may not be read, is no watch', () => {
  void pods.onOutcome(unserved);
  void services.onOutcome(forbidden);
  expect(kinds.isWatched).toBe(false);
});

test('who waits for a refusal is told of it, and not who waits no more; then nothing is kept of either', async () => {
  const [asks, gone] = [new AbortController(), new AbortController()];
  const told: string[] = [];
  void kinds.refused(podKind, asks.signal).then(() => told.push('asks'));
  void kinds.refused(podKind, gone.signal).then(() => told.push('gone'));
  gone.abort();
  void pods.onOutcome(forbidden);
  await Promise.resolve();
  expect(told).toEqual(['asks']);
  expect([asks, gone].flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
});
