import { expect, test } from 'vitest';
import { pemBlocks, requestProblem } from '../../../../kube/validation/pem.ts';

const block = (type: string, body: string) => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;

test.each<[string, string, [string, string][]]>([
  ['one', block('A', 'YQ==\n'), [['A', 'a']]],
  [
    'two, and what is between them',
    `x\n${block('A', 'YQ==\n')}y\n${block('B', 'Yg==\n')}z`,
    [
      ['A', 'a'],
      ['B', 'b'],
    ],
  ],
  ['lines as on Windows', '-----BEGIN A-----\r\nYQ==\r\n-----END A-----\r\n', [['A', 'a']]],
  ['an empty one', block('A', ''), [['A', '']]],
  ['one in mid-line', `x${block('A', 'YQ==\n')}`, []],
  ['one that ends in mid-line', '-----BEGIN A-----\nYQ== -----END A-----\n', []],
  ['one that ends as another', '-----BEGIN A-----\nYQ==\n-----END B-----\n', []],
  // Each would be looked at to the end of all.
  ['many that do not end', '-----BEGIN A-----\n'.repeat(200_000), []],
])('the blocks of %s', (_, text, blocks) => {
  expect(pemBlocks(text).map(({ type, bytes }) => [type, bytes.toString()])).toEqual(blocks);
});

/** As kube-apiserver 1.36 answers for the same requests: made with `openssl req -new -key ... -subj /CN=...`. */
test.each([
  [
    'an RSA key of 512 bits',
    'crypto/rsa: 512-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)',
    'MIHIMHQCAQAwDzENMAsGA1UEAwwEcjUxMjBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQDTCcUxXYYeIlzpjLQ2B05VVbHlr2u862mIBPDUzPr2tKUHgJvROSmBcMod55sR++ZdwsnFO1HOis66vtvnXwa3AgMBAAGgADANBgkqhkiG9w0BAQsFAANBAFtK2BlqwPQoy30jfeu6TWGLQaEb23RKrmu4lLfDSFAD3bmLDvdNHh9xOiLdXpH3fpUeoZwaEyWjOpE97e/hJUs=',
  ],
  [
    'a key on secp256k1',
    'x509: unsupported elliptic curve',
    'MIHEMGwCAQAwDTELMAkGA1UEAwwCazEwVjAQBgcqhkjOPQIBBgUrgQQACgNCAAQJ1+zi/+/u9RABFVkImiqGEyVI9Hd+l5DSC9gqPc/gyzRfBL+yuE5wCK6cGJXGbQntIguqSk3rwOMvdr6OqbonoAAwCgYIKoZIzj0EAwIDSAAwRQIhAMLEKT1AhNOQwvtosL5gX8/6wKhds8B+WffEm7KtoHhWAiBKxBIHQx7tJUJ7rtxJmINTxyoOhm5iLb7Jg8499lZGxA==',
  ],
  [
    'a key on a curve of its own',
    'x509: invalid ECDSA parameters',
    'MIIBqzCCAVECAQAwEzERMA8GA1UEAwwIZXhwbGljaXQwggEzMIHsBgcqhkjOPQIBMIHgAgEBMCwGByqGSM49AQECIQD////////////////////////////////////+///8LzBEBCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAcEQQR5vmZ++dy7rFWgYpXOhwsHApv82y3OKNlZ8oFbFvgXmEg62ncmo8RlXaT7/A4RCKj9F7RIpoVUGZxH0I/7ENS4AiEA/////////////////////rqu3OavSKA7v9JejNA2QUECAQEDQgAEVt43KwqJ2596RPxY78EgqJPiVBytCFppJRUcsIyyGU5zwD2PQEr/CMhaOh4rXyJGyUHn8Pi9wtplVdwE5dQ8oKAAMAoGCCqGSM49BAMCA0gAMEUCIQD3ysPfSYyLrNb2ca5POW34yWfMtG9udU+RVFxAL0CykgIgP1ZgZKwusDPHqodMaKpFFP/qG6VNthQQbGqYNKq2jYY=',
  ],
  [
    'a key of Ed448',
    'x509: cannot verify signature: algorithm unimplemented',
    'MIHaMFwCAQAwEDEOMAwGA1UEAwwFZWQ0NDgwQzAFBgMrZXEDOgCUkN9MmwXfjK3CaX17kFoYHoganAwxueS0F1PAikcuk+Z8YQ4r4gyKfr/MSp+vca+cwv2ZbYMHoICgADAFBgMrZXEDcwBSvbuTWoBU19CkHm1XV0P3c80qO2+5ImPMJk7QzdIzeKxz9aG1Um6zw2qJuEmU4N30AjIkCsAAEIBI2ojlrOcO//H9uY3JaROi1chJoZMhKU/Gxc+be1die8RLlb5UF4d84FuQ/8kL+Nqu9gm8Cg04LwA=',
  ],
  [
    'a key on P-224',
    undefined,
    'MIG3MGYCAQAwDzENMAsGA1UEAwwEcDIyNDBOMBAGByqGSM49AgEGBSuBBAAhAzoABISFHei+HvbnGyOMmXWloMwRlsQJqTJQSTO7lTNRMocULiMXHoo2HadSPrSTu7RcYehmyJvebAuMoAAwCgYIKoZIzj0EAwIDQQAwPgIdANoupiYgZT7Rfa6seduINxs+wGaeaCCtzrLb0PMCHQCTqjm1qSVJkAEtch10/8Uhq41EWY+ajOn0d5Tv',
  ],
])('a request for %s', (_, problem, body) => {
  const lines = (body as string).replace(/(.{64})/g, '$1\n');
  const request = `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(requestProblem(request)).toBe(problem);
});
