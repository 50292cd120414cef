import { expect, test } from 'vitest';
import { refusedError } from '../../../../apiserver/webhook/go-text.ts';

const onServer = (what: string) =>
  `an error on the server (${what}) has prevented the request from succeeding`;

test.each([
  [500, 'boom\n', 'text/plain; charset=utf-8', onServer('"boom"')],
  [500, 'boom', undefined, onServer('"boom"')],
  [500, '{"kind":"ConversionReview"}', 'application/json', onServer('"unknown"')],
  [403, '{"secret":1}', 'application/json', 'unknown'],
  [403, 'not you', 'text/plain', 'not you'],
  [500, '{"kind":"Status","status":"Failure","message":"said"}', 'application/json', 'said'],
])('%i with %j of %s', (code, body, type, message) => {
  expect(refusedError(code, body, type)).toBe(message);
});
