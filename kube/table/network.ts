import { at, int, records, strings, text } from '../untyped.ts';
import { formatLabels, formatSelector, listWithMore, loadBalancerAddresses } from './format.ts';
import type { Printers, Row } from './printer.ts';

function externalAddress({ spec, status }: Row): string {
  const external = strings(spec['externalIPs']);
  switch (text(spec['type'])) {
    case 'ExternalName':
      return text(spec['externalName']);
    case 'LoadBalancer':
      return [loadBalancerAddresses(status), ...external].filter(Boolean).join(',') || '<pending>';
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    default:
      return '<unknown>';
  }
}

function servicePorts({ spec }: Row): string {
  const ports = records(spec['ports']).map((port) => {
    const node = int(port['nodePort']) > 0 ? `:${int(port['nodePort'])}` : '';
    return `${int(port['port'])}${node}/${text(port['protocol'])}`;
  });
  return ports.join(',') || '<none>';
}

function hosts({ spec }: Row): string {
  const all = records(spec['rules']).map((rule) => text(rule['host']));
  const named = all.flatMap((name, i) => (name ? [i] : [])).slice(0, 3);
  if (named.length === 0) return '*';
  const shown = named.map((i) => all[i]).join(',');
  const third = named[2] ?? all.length;
  return third < all.length - 1 ? `${shown} + ${all.length - 3} more...` : shown;
}

const host = (address: string) => (address.includes(':') ? `[${address}]` : address);

function endpoints({ object }: Row): string {
  const subsets = records(object['subsets']);
  if (subsets.length === 0) return '<none>';
  const list = subsets.flatMap((subset) => {
    const addresses = records(subset['addresses']).map((address) => text(address['ip']));
    const ports = records(subset['ports']);
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => `${host(address)}:${int(port['port'])}`));
  });
  return listWithMore(list, 3, '');
}

function slicePorts({ object }: Row): string {
  const ports = records(object['ports']).map((port) => String(port['port'] ?? port['name'] ?? '*'));
  return listWithMore(ports, 3, '<unset>');
}

export const isDefault = (object: unknown, key: string) =>
  at(object, 'metadata', 'annotations', key) === 'true';

function classParameters({ spec }: Row): string {
  const parameters = spec['parameters'];
  if (parameters === undefined) return '<none>';
  const group = at(parameters, 'apiGroup');
  const kind = text(at(parameters, 'kind')) + (typeof group === 'string' ? `.${group}` : '');
  return `${kind}/${text(at(parameters, 'name'))}`;
}

export const networkPrinters: Printers = {
  '/Service': {
    columns: '@Name|Type|Cluster-IP|External-IP|Port(s)|Age|Selector*',
    cells: (row) => {
      const address = strings(row.spec['clusterIPs'])[0] ?? '<none>';
      const cells = [row.name, text(row.spec['type']), address, externalAddress(row), servicePorts(row)];
      return [...cells, row.age, formatLabels(row.spec['selector'])];
    },
  },
  '/Endpoints': { columns: '@Name|Endpoints|Age', cells: (row) => [row.name, endpoints(row), row.age] },
  'discovery.k8s.io/EndpointSlice': {
    columns: '@Name|AddressType|Ports|Endpoints|Age',
    cells: (row) => {
      const addresses = records(row.object['endpoints']).flatMap((endpoint) =>
        strings(endpoint['addresses']),
      );
      const shown = listWithMore(addresses, 3, '<unset>');
      return [row.name, text(row.object['addressType']), slicePorts(row), shown, row.age];
    },
  },
  'networking.k8s.io/Ingress': {
    columns: '@Name|Class|Hosts|Address|Ports|Age',
    cells: (row) => [
      row.name,
      row.spec['ingressClassName'] ?? '<none>',
      hosts(row),
      loadBalancerAddresses(row.status),
      records(row.spec['tls']).length > 0 ? '80, 443' : '80',
      row.age,
    ],
  },
  'networking.k8s.io/IngressClass': {
    columns: '@Name|Controller|Parameters|Age',
    cells: (row) => {
      const name = isDefault(row.object, 'ingressclass.kubernetes.io/is-default-class');
      const shown = name ? `${row.name} (default)` : row.name;
      return [shown, text(row.spec['controller']), classParameters(row), row.age];
    },
  },
  'networking.k8s.io/NetworkPolicy': {
    columns: '@Name|Pod-Selector|Age',
    cells: (row) => [row.name, formatSelector(row.spec['podSelector']), row.age],
  },
  'networking.k8s.io/ServiceCIDR': {
    columns: '@Name|CIDRs|Age',
    cells: (row) => [row.name, strings(row.spec['cidrs']).join(','), row.age],
  },
  'networking.k8s.io/IPAddress': {
    // The age has no column: kube-apiserver forgets to name it.
    columns: '@Name|ParentRef',
    cells: (row) => {
      const parent = (field: string) => text(at(row.spec, 'parentRef', field));
      const resource = [parent('resource'), parent('group')].filter(Boolean).join('.').toLowerCase();
      const shown = [resource, parent('namespace'), parent('name')].filter(Boolean).join('/');
      return [row.name, shown || '<none>', row.age];
    },
  },
};
