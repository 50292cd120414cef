import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TransportError } from '../../../client/errors.ts';
import { StatusError } from '../../../kube/status.ts';
import { Unreadable } from '../../../syncer/unreadable.ts';

const pods = { group: '', resource: 'pods' };
const services = { group: '', resource: 'services' };
const forbidden = new StatusError(403, 'Forbidden', 'no');
const endless = new TransportError('EENDLESS', 'no end');
const silent = new TransportError('ETIMEDOUT', 'no answer');
const none = { Forbidden: [], Endless: [], Unanswered: [] };

let changes = 0;
let kinds: Unreadable;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  changes = 0;
  kinds = new Unreadable(() => changes++);
});
afterEach(() => vi.useRealTimers());

test('each cause is told as what it is', () => {
  void kinds.outcome(pods, forbidden);
  void kinds.outcome(services, endless);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'], Endless: ['services'] });
  void kinds.outcome(services, forbidden);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods', 'services'] });
  void kinds.outcome(pods, undefined);
  kinds.note(services);
  expect(kinds.list()).toEqual(none);
  expect(changes).toBe(5);
});

test('what is read in vain is known to be so at once, and told of when it lasts', () => {
  void kinds.outcome(pods, silent);
  expect([kinds.isFailing(pods), kinds.has(pods), kinds.list()]).toEqual([true, false, none]);
  vi.advanceTimersByTime(9_000);
  void kinds.outcome(pods, silent);
  expect(kinds.list()).toEqual(none);
  vi.advanceTimersByTime(1_000);
  expect(kinds.list()).toEqual({ ...none, Unanswered: ['pods'] });
  void kinds.outcome(pods, undefined);
  expect([kinds.isFailing(pods), kinds.list()]).toEqual([false, none]);
});

test('what is not answered says nothing of what was refused, a kind that is not served, or that nobody reads, nothing at all', () => {
  void kinds.outcome(pods, forbidden);
  void kinds.outcome(pods, silent);
  kinds.note(pods, silent);
  void kinds.outcome(
    services,
    new StatusError(404, 'NotFound', 'the server could not find the requested resource'),
  );
  vi.advanceTimersByTime(20_000);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'] });
  void kinds.outcome(services, silent);
  kinds.rest(services);
  kinds.rest(pods);
  vi.advanceTimersByTime(20_000);
  expect(kinds.list()).toEqual({ ...none, Forbidden: ['pods'] });
});
