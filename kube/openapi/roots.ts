import { formatApiVersion, type GroupVersion } from '../gvk.ts';
import type { JsonObject } from '../object.ts';
import type { Dialect } from './definition.ts';
import { encodings, groupWords, meta, rootOf, tagOf, upper } from './words.ts';

/** A path that names no resource, and the definition that its answer has. */
export interface Root {
  /** Of its own OpenAPI 3 document, below /openapi/v3. */
  readonly document: string;
  readonly path: string;
  readonly definition?: string;
  readonly operation: JsonObject;
}

/** The path that lists the resources of a group version; it has no document of its own. */
export function resourcesRoot(gv: GroupVersion, dialect: Dialect): Root {
  const operationId = `get${upper([...groupWords(gv), 'API', 'resources'])}`;
  return root(`${gv.group === '' ? 'api' : 'apis'}/${formatApiVersion(gv)}`, dialect, {
    path: `${rootOf(gv)}/`,
    definition: `${meta}.APIResourceList`,
    description: 'list the resources',
    tag: tagOf(gv),
    operationId,
  });
}

/** What tells of groups, of the server and of who signs tokens: only built-in `groups` have a path here. */
export function serverRoots(groups: readonly string[], dialect: Dialect): Root[] {
  const named = groups.filter((group) => group !== '').map((group) => groupRoot(group, dialect));
  return [
    root('api', dialect, {
      path: '/api/',
      definition: `${meta}.APIVersions`,
      description: 'list the versions of the core group',
      tag: 'core',
      operationId: 'getCoreAPIVersions',
    }),
    root('apis', dialect, {
      path: '/apis/',
      definition: `${meta}.APIGroupList`,
      description: 'list the groups',
      tag: 'apis',
      operationId: 'getAPIVersions',
    }),
    ...named,
    root('version', dialect, {
      path: '/version/',
      definition: 'io.k8s.apimachinery.pkg.version.Info',
      description: 'tell the version of this server',
      tag: 'version',
      operationId: 'getCodeVersion',
      produces: ['application/json'],
    }),
    ...issuer(dialect),
  ];
}

function groupRoot(group: string, dialect: Dialect): Root {
  const words = groupWords({ group, version: '' }).slice(0, -1);
  const [first = '', ...rest] = words;
  return root(`apis/${group}`, dialect, {
    path: `/apis/${group}/`,
    definition: `${meta}.APIGroup`,
    description: 'list the versions of the group',
    tag: `${first}${upper(rest)}`,
    operationId: `get${upper([...words, 'APIGroup'])}`,
  });
}

/** Where the keys are with which tokens of ServiceAccounts are verified. */
function issuer(dialect: Dialect): Root[] {
  return [
    root('.well-known/openid-configuration', dialect, {
      path: '/.well-known/openid-configuration/',
      description: 'tell who issues tokens of ServiceAccounts',
      tag: 'WellKnown',
      operationId: 'getServiceAccountIssuerOpenIDConfiguration',
      produces: ['application/json'],
    }),
    root('openid/v1/jwks', dialect, {
      path: '/openid/v1/jwks/',
      description: 'list the keys that tokens of ServiceAccounts are signed with',
      tag: 'openid',
      operationId: 'getServiceAccountIssuerOpenIDKeyset',
      produces: ['application/jwk-set+json'],
    }),
  ];
}

interface Words {
  path: string;
  definition?: string;
  description: string;
  tag: string;
  operationId: string;
  /** Default: every encoding of an object. */
  produces?: readonly string[];
}

function root(document: string, dialect: Dialect, words: Words): Root {
  const { path, definition, description, tag, operationId, produces = encodings } = words;
  const schema = definition === undefined ? { type: 'string' } : { $ref: dialect.prefix + definition };
  const content = Object.fromEntries(produces.map((type) => [type, { schema }]));
  const answer = dialect.version === 2 ? { schema } : { content };
  const operation = {
    description,
    tags: [tag],
    operationId,
    ...(dialect.version === 2 && {
      ...(definition !== undefined && { consumes: [...produces] }),
      produces: [...produces],
      schemes: ['https'],
    }),
    responses: { '200': { description: 'OK', ...answer }, '401': { description: 'Unauthorized' } },
  };
  return { document, path, operation, ...(definition !== undefined && { definition }) };
}
