import { expect, test } from 'vitest';
import { readConfiguration } from '../../../../kube/authentication/configuration.ts';
import { encodeYaml } from '../../../../kube/yaml.ts';

const issuer = { url: 'https://issuer', audiences: ['us'] };
const claimMappings = { username: { claim: 'sub', prefix: '' } };
const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration' };
const read = (more: object) =>
  readConfiguration(encodeYaml({ ...kind, ...more }), ['https://kubernetes.default.svc']);
const one = (more: object) => ({ jwt: [{ issuer, claimMappings, ...more }] });
const mapped = (more: object) => one({ claimMappings: { ...claimMappings, ...more } });
const issued = (more: object) => one({ issuer: { ...issuer, ...more } });

test.each([
  ['nothing', {}],
  ['one issuer', one({})],
  ['several audiences', issued({ audiences: ['a', 'b'], audienceMatchPolicy: 'MatchAny' })],
  [
    'an address that is verified',
    mapped({ username: { expression: 'claims.email_verified == true ? claims.email : ""' } }),
  ],
  ['conditions', { anonymous: { enabled: true, conditions: [{ path: '/livez' }] } }],
  ['JSON null for what is not said', one({ claimValidationRules: null })],
])('%s is good', (_what, more) => {
  expect(() => read(more)).not.toThrow();
});

test.each<[object, string]>([
  [{ apiVersion: 'v1' }, 'no kind "AuthenticationConfiguration" is registered for version "v1"'],
  [{ kind: 'Pod' }, 'expected AuthenticationConfiguration'],
  [{ jwts: [] }, 'strict decoding error: unknown field "jwts"'],
  [one({ issuer: { ...issuer, uri: 'x' } }), 'strict decoding error: unknown field "jwt[0].issuer.uri"'],
  [{ jwt: {} }, 'jwt must be a list'],
  [issued({ audiences: 'us' }), 'jwt[0].issuer.audiences must be a list'],
  [issued({ url: '' }), 'jwt[0].issuer.url: Required value'],
  [issued({ url: 'http://x' }), 'jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https'],
  [issued({ url: 'https://a:b@x' }), 'URL must not contain a username or password'],
  [issued({ url: 'https://x?a=b' }), 'URL must not contain a query'],
  [issued({ url: 'https://x#a' }), 'URL must not contain a fragment'],
  [
    issued({ url: 'https://kubernetes.default.svc' }),
    'URL must not overlap with disallowed issuers: [https://kubernetes.default.svc]',
  ],
  [issued({ discoveryURL: 'https://issuer/' }), 'discoveryURL must be different from URL'],
  [
    issued({ audiences: [] }),
    'jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required',
  ],
  [issued({ audiences: ['a', 'b'] }), 'audienceMatchPolicy must be MatchAny for multiple audiences'],
  [
    issued({ audienceMatchPolicy: 'All' }),
    'audienceMatchPolicy must be empty or MatchAny for single audience',
  ],
  [
    issued({ audiences: ['a', 'a'], audienceMatchPolicy: 'MatchAny' }),
    'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
  ],
  [issued({ certificateAuthority: 'x' }), 'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>"'],
  [{ jwt: [one({}).jwt[0], one({}).jwt[0]] }, 'jwt[1].issuer.url: Duplicate value: "https://issuer"'],
  [
    { jwt: Array.from({ length: 65 }, () => one({}).jwt[0]) },
    'jwt: Too many: 65: must have at most 64 items',
  ],
  [
    mapped({ username: {} }),
    'jwt[0].claimMappings.username: Required value: claim or expression is required',
  ],
  [mapped({ username: { claim: 'a' } }), 'jwt[0].claimMappings.username.prefix: Required value'],
  [
    mapped({ username: { claim: 'a', prefix: '', expression: 'a' } }),
    "claim and expression can't both be set",
  ],
  [
    mapped({ username: { expression: 'claims.', prefix: '' } }),
    'jwt[0].claimMappings.username.prefix: Invalid value: ""',
  ],
  [
    mapped({ username: { expression: 'user.name' } }),
    'compilation failed: ERROR: <input>:1:1: undeclared reference to',
  ],
  [mapped({ username: { expression: 'claims.email' } }), 'claims.email_verified must be used'],
  [
    mapped({ uid: { claim: 'a', expression: 'b' } }),
    'jwt[0].claimMappings.uid: Invalid value: "": claim and expression can\'t both be set',
  ],
  [mapped({ extra: [{ key: 'a', valueExpression: "'b'" }] }), 'must be a domain-prefixed path'],
  [mapped({ extra: [{ key: 'X.com/a', valueExpression: "'b'" }] }), 'must be lowercase'],
  [mapped({ extra: [{ key: 'a.k8s.io/a', valueExpression: "'b'" }] }), 'are reserved for Kubernetes use'],
  [
    mapped({ extra: [{ key: 'authentication.kcp.io/cluster-name', valueExpression: "'b'" }] }),
    'of ServiceAccounts alone',
  ],
  [
    mapped({ extra: [{ key: 'x.com/a', valueExpression: '' }] }),
    'jwt[0].claimMappings.extra[0].valueExpression: Required value',
  ],
  [
    one({ claimValidationRules: [{}] }),
    'jwt[0].claimValidationRules[0]: Required value: claim or expression is required',
  ],
  [one({ claimValidationRules: [{ expression: "'a'" }] }), 'must evaluate to bool'],
  [one({ claimValidationRules: [{ claim: 'a', message: 'b' }] }), 'may not be specified when claim is set'],
  [
    one({ userValidationRules: [{ expression: 'user.name == 1' }] }),
    'jwt[0].userValidationRules[0].expression: Invalid value: "user.name == 1": compilation failed',
  ],
  [
    one({ userValidationRules: [{ expression: 'true' }, { expression: 'true' }] }),
    'userValidationRules[1].expression: Duplicate value: "true"',
  ],
  [
    { anonymous: { enabled: false, conditions: [{ path: '/livez' }] } },
    'enabled should be set to true when conditions are defined',
  ],
])('%j is refused: %s', (more, why) => {
  expect(() => read(more)).toThrow(why);
});

test('nothing at all, and what is no YAML', () => {
  expect(() => readConfiguration(' \n', [])).toThrow('empty config data');
  expect(() => readConfiguration('{', [])).toThrow();
});
