// Asks a real kube-apiserver what it serves by default.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from '../../dist/test/fidelity/wire.js';
import { startKubernetes } from '../../dist/test/kubernetes/kubernetes.js';

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

export async function write(root) {
  const kubernetes = await startKubernetes({ name: 'generate', apiOnly: true });
  try {
    const wire = await connect(kubernetes.kubeconfig);
    const lists = [];
    for (const path of ['/api', '/apis']) {
      const { status, body } = await (await wire.send({ method: 'GET', path, accept })).done;
      if (status !== 200) throw new Error(`${path}: ${status}`);
      lists.push(JSON.parse(body.toString('utf8')));
    }
    wire.close();
    const file = join(root, 'kube/schema/generated/resources.json');
    mkdirSync(dirname(file), { recursive: true });
    const resources = lists.flatMap(({ items }) => items.flatMap(resourcesOf));
    writeFileSync(file, `${JSON.stringify(resources)}\n`);
  } finally {
    await kubernetes.stop();
  }
}

/** The first version of a group that has a resource is the one that it is stored in. */
function resourcesOf({ metadata, versions }) {
  const { name: group = '' } = metadata;
  const first = new Map();
  return versions.flatMap(({ version, resources }) =>
    resources.map((of) => {
      if (!first.has(of.resource)) first.set(of.resource, version);
      return {
        group,
        version,
        kind: of.responseKind.kind,
        resource: of.resource,
        singular: of.singularResource,
        namespaced: of.scope === 'Namespaced',
        shortNames: of.shortNames ?? [],
        categories: of.categories ?? [],
        verbs: of.verbs,
        subresources: (of.subresources ?? []).map((sub) => subresourceOf(sub, { group, version })),
        storageVersion: first.get(of.resource),
      };
    }),
  );
}

/** A kind without a version is of the resource's own. */
function subresourceOf({ subresource, responseKind, verbs }, own) {
  const { group = '', version = '', kind } = responseKind;
  return { name: subresource, ...(version === '' ? own : { group, version }), kind, verbs };
}
