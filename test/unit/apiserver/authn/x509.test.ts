import { expect, test } from 'vitest';
import { certificateAuthenticator } from '../../../../apiserver/authn/x509.ts';

const request = { method: 'GET', url: '/', headers: {} };
const told: object[] = [];
const authenticator = certificateAuthenticator({ info: (fields) => told.push(fields) });
const ask = (valid_to?: string) =>
  authenticator(
    request,
    {
      certificate: { subject: { CN: 'ann', O: 'dev' } as never, ...(valid_to !== undefined && { valid_to }) },
    },
    'root',
  );

test('a certificate says who somebody is, until it expires on an open connection', () => {
  const ann = { name: 'ann', groups: ['dev', 'system:authenticated'] };
  expect(ask('Jan  1 00:00:00 2999 GMT')).toEqual(ann);
  expect(ask()).toEqual(ann);
  expect(told).toEqual([]);
  expect(ask('Jan  1 00:00:00 2020 GMT')).toBeUndefined();
  expect(told).toEqual([{ user: 'ann', until: '2020-01-01T00:00:00.000Z' }]);
});
