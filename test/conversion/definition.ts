import type { ConversionWebhook } from './webhook.ts';

export const group = 'conversion.example.com';
export const definitionName = `widgets.${group}`;

const common = { size: { type: 'integer', minimum: 0 }, note: { type: 'string', nullable: true } };

function version(name: string, storage: string, spec: object, more: object = {}) {
  return {
    name,
    served: true,
    storage: name === storage,
    subresources: {
      status: {},
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' },
    },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { ...common, ...spec }, ...more },
          status: { type: 'object', properties: { replicas: { type: 'integer' } } },
        },
      },
    },
  };
}

/** Widgets in v1 and v2; v2 has a default, a rule of its own, a column and a selectable field. */
export function definition(hook: ConversionWebhook, storage = 'v1', conversion: object = {}) {
  const v2 = version(
    'v2',
    storage,
    {
      hostName: { type: 'string' },
      port: { type: 'integer' },
      tier: { type: 'string', default: 'plain' },
    },
    {
      'x-kubernetes-validations': [{ rule: '!has(self.port) || self.port > 0', message: 'port is positive' }],
    },
  );
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: definitionName },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        version('v1', storage, { host: { type: 'string' } }),
        {
          ...v2,
          selectableFields: [{ jsonPath: '.spec.hostName' }],
          additionalPrinterColumns: [{ name: 'Host', type: 'string', jsonPath: '.spec.hostName' }],
        },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url: hook.url, caBundle: hook.caBundle },
          ...conversion,
        },
      },
    },
  };
}

export function widget(version: 'v1' | 'v2', name: string, spec: object, metadata: object = {}) {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name, ...metadata }, spec };
}

export const widgets = (version: string, name = '') =>
  `/apis/${group}/${version}/namespaces/default/widgets${name && `/${name}`}`;
