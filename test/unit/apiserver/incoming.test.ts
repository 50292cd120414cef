import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Incoming } from '../../../apiserver/wire/incoming.ts';

function come() {
  const raw = { method: 'PUT', headers: { a: 'b' }, headersDistinct: { a: ['b'] } };
  const out = { closed: false, writableFinished: false };
  const request = new Incoming(raw as never as IncomingMessage, out as ServerResponse, '/x?y');
  return { out, request };
}

test('a request is what came', () => {
  const { request } = come();
  expect(request).toMatchObject({ method: 'PUT', url: '/x?y', headers: { a: 'b' }, distinct: { a: ['b'] } });
});

test('requests have one shape: what is got is nothing of their own', () => {
  expect(Object.keys(come().request)).toEqual(['method', 'url', 'headers']);
});

test.each([
  ['before its answer', false, true],
  ['with its answer', true, false],
])('whose connection closes %s', (_when, writableFinished, aborted) => {
  const { out, request } = come();
  const { signal } = request;
  expect(signal.aborted).toBe(false);
  Object.assign(out, { writableFinished, closed: true });
  request.closed();
  expect(signal.aborted).toBe(aborted);
});

test('whoever looks late sees that the client has left', () => {
  const { out, request } = come();
  out.closed = true;
  request.closed();
  expect(request.signal.aborted).toBe(true);
});
