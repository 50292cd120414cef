import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { parseApiVersion } from '../../../kube/gvk.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { builtinResources } from '../../../kube/schema/builtin.ts';
import { decodeYaml, encodeYaml } from '../../../kube/yaml.ts';
import { type Bundle, readBundles } from '../../bundles/bundle.ts';
import type { Case, Names, Step } from '../case.ts';
import { collectionPath } from '../fixtures.ts';

/** Each object of real manifests: created, applied by a second manager, read, all without being stored. */
export async function bundlesCases(dir: string): Promise<Case[]> {
  const bundles = await readBundles(dir);
  return bundles.flatMap((bundle) => objectsOf(bundle).flatMap((text, i) => caseOf(bundle, text, i)));
}

function objectsOf(bundle: Bundle): string[] {
  return bundle.files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split(/^---.*$/m)
      .filter((text) => /^kind:/m.test(text) && readable(text)),
  );
}

function readable(text: string): boolean {
  try {
    return loadAll(text).length === 1;
  } catch {
    return false;
  }
}

function caseOf(bundle: Bundle, text: string, i: number): Case[] {
  const object = decodeYaml(text).value as unknown as KubeObject;
  const { group, version } = parseApiVersion(String(object?.apiVersion));
  const info = builtinResources.find(
    (r) => r.group === group && r.version === version && r.kind === object.kind,
  );
  // A custom resource needs its definition to be stored; `make bundles` compares those.
  if (!info || !object.metadata?.name) return [];
  const id = `bundles/${bundle.name}/${i}-${object.kind}`;
  const steps = (names: Names): Step[] => {
    const copy = structuredClone(object);
    if (info.namespaced) copy.metadata.namespace = names.ns;
    const path = collectionPath(info, names.ns);
    const yaml = encodeYaml(copy);
    return [
      {
        method: 'POST',
        path: `${path}?dryRun=All&fieldManager=kubectl-client-side-apply&fieldValidation=Strict`,
        body: yaml,
        contentType: 'application/yaml',
      },
      {
        method: 'PATCH',
        path: `${path}/${copy.metadata.name}?dryRun=All&fieldManager=kubectl&force=true`,
        body: yaml,
        contentType: 'application/apply-patch+yaml',
      },
    ];
  };
  return [{ id, area: 'bundles', steps }];
}
