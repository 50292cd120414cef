// Asks a real kube-apiserver which roles and bindings it makes at its first start.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { connect } from '../../dist/test/fidelity/wire.js';
import { startKubernetes } from '../../dist/test/kubernetes/kubernetes.js';

const bootstrapping = 'kubernetes.io/bootstrapping';
const kinds = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
};

export async function write(root) {
  const kubernetes = await startKubernetes({ name: 'generate', apiOnly: true });
  try {
    const wire = await connect(kubernetes.kubeconfig);
    const lines = [];
    for (const [resource, kind] of Object.entries(kinds)) {
      const path = `/apis/rbac.authorization.k8s.io/v1/${resource}?labelSelector=${bootstrapping}%3Drbac-defaults`;
      const { status, body } = await (await wire.send({ method: 'GET', path })).done;
      if (status !== 200) throw new Error(`${path}: ${status}`);
      for (const item of JSON.parse(body.toString('utf8')).items) lines.push(lineOf(kind, item));
    }
    wire.close();
    const file = join(root, 'kube/rbac/generated/bootstrap.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
  } finally {
    await kubernetes.stop();
  }
}

/** Without what all of them have: kube/rbac/bootstrap.ts adds it. */
function lineOf(kind, { metadata, aggregationRule, rules, roleRef, subjects }) {
  const { name, namespace } = metadata;
  const { [bootstrapping]: _, ...labels } = metadata.labels;
  const more = Object.keys(labels).length > 0 ? { labels } : {};
  // The rules of what aggregates are the others'.
  const own = aggregationRule ? { aggregationRule } : { rules };
  return JSON.stringify({ kind, namespace, name, ...more, ...(roleRef ? { roleRef, subjects } : own) });
}
