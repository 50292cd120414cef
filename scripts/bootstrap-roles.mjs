// kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json | node scripts/bootstrap-roles.mjs
// What kube-apiserver makes of its own, of a cluster that nobody has changed, to kube/rbac/generated/bootstrap.json.
import { readFileSync, writeFileSync } from 'node:fs';

const bootstrapping = 'kubernetes.io/bootstrapping';
const { items } = JSON.parse(readFileSync(0, 'utf8'));
const lines = items
  .filter(({ metadata }) => metadata.labels?.[bootstrapping] === 'rbac-defaults')
  .map(({ kind, metadata, aggregationRule, rules, roleRef, subjects }) => {
    const { name, namespace } = metadata;
    const { [bootstrapping]: _, ...labels } = metadata.labels;
    // The rules of what aggregates are the others'.
    const own = aggregationRule ? { aggregationRule } : { rules };
    const said = roleRef ? { roleRef, subjects } : own;
    const more = Object.keys(labels).length > 0 ? { labels } : {};
    return JSON.stringify({ kind, namespace, name, ...more, ...said });
  });
writeFileSync(
  new URL('../kube/rbac/generated/bootstrap.json', import.meta.url),
  `[\n${lines.join(',\n')}\n]\n`,
);
