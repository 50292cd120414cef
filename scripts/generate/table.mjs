// What the repository holds of Kubernetes that nobody wrote: the one list, which `make generate` walks and `make lint`
// checks. Kubernetes' version is that of types/go.mod.

/**
 * `files` are written out of `from` by `<name>.mjs`. `by` is all that writes them: a change of either without the other
 * is stale. Folders stand for all that is in them.
 */
export const generated = [
  {
    name: 'types',
    from: 'the Go modules of types/go.mod, read as files: names, tags and markers; the descriptions of pkg/generated/openapi',
    by: ['scripts/generate/types', 'scripts/generate/types.mjs', 'scripts/generate/modules.mjs'],
    files: [
      // Fields, JSON and protobuf, patch strategies, list keys, defaults by marker: kube/schema/table.ts tells.
      'kube/schema/generated/types.json.gz',
      // What kube-apiserver calls and nests otherwise than the API, for messages that show values.
      'kube/schema/generated/internal.json.gz',
      // What OpenAPI and kubectl explain say, read when they are asked.
      'kube/openapi/generated/descriptions.json.gz',
    ],
  },
  {
    name: 'resources',
    from: 'aggregated discovery of a kube-apiserver (make kubernetes) that has its defaults',
    by: ['scripts/generate/resources.mjs'],
    files: ['kube/schema/generated/resources.json'],
  },
  {
    name: 'roles',
    from: 'the roles and bindings that a kube-apiserver (make kubernetes) makes at its first start',
    by: ['scripts/generate/roles.mjs'],
    files: ['kube/rbac/generated/bootstrap.json'],
  },
  {
    name: 'fixtures',
    from: 'k8s.io/api/testdata/HEAD of the Go module: every kind with every field, in JSON, YAML and protobuf',
    by: ['scripts/generate/fixtures.mjs', 'scripts/generate/modules.mjs'],
    files: ['test/unit/kube/protobuf/golden.json.br'],
  },
];

/** Written down once from a running Kubernetes or Go program, with its uids and times: kept, not made again. */
export const recorded = [
  // Exchanges with kube-apiserver, for ownership: creates, patches and applies with what was stored.
  'test/unit/kube/patch/recorded.json',
  // Objects and the bytes that the serializer of k8s.io/apimachinery writes for them.
  'test/unit/kube/protobuf/vectors.json',
];
