import { expect, test } from 'vitest';
import { absenceOf, isMissing, statusErrorOf, TransportError } from '../../../client/errors.ts';
import { conflict, forbidden, notFound, StatusError } from '../../../kube/status.ts';

const pods = { group: '', resource: 'pods' };

test.each<[string, unknown, string | undefined]>([
  ['no such object', notFound(pods, 'p'), 'missing'],
  [
    'no such resource',
    new StatusError(404, 'NotFound', 'could not find the requested resource', {}),
    'notServed',
  ],
  ['no such path, as Go’s mux says it', statusErrorOf(404, '404 page not found\n'), 'notServed'],
  ['a method that is not allowed', statusErrorOf(405, undefined), 'notServed'],
  ['who is not known', statusErrorOf(401, undefined), 'notAllowed'],
  ['who may not', forbidden(pods, 'p', 'no'), 'notAllowed'],
  ['a connection that broke', new TransportError('ECONNRESET', 'reset'), 'notAnswering'],
  ['a proxy without a server behind it', statusErrorOf(502, '<html>'), 'notAnswering'],
  ['a server that is busy', statusErrorOf(429, undefined), 'notAnswering'],
  ['a server that is starting', statusErrorOf(503, undefined), 'notAnswering'],
  ['a refusal of what was asked', conflict(pods, 'p', 'stale'), undefined],
  ['something else', new Error('bug'), undefined],
])('%s', (_, error, expected) => {
  expect(absenceOf(error)).toBe(expected);
  expect(isMissing(error, 'p')).toBe(expected === 'missing');
});

test('a Namespace that is missing says nothing of an object', () => {
  expect(isMissing(notFound({ group: '', resource: 'namespaces' }, 'n'), 'p')).toBe(false);
});

test.each([
  [409, 409],
  [1000, 503],
  [450.5, 503],
  [200, 503],
])('a Status that says of itself the code %s, of an answer with 503', (said, code) => {
  expect(statusErrorOf(503, { kind: 'Status', code: said }).code).toBe(code);
});
