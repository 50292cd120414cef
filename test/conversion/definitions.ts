import { definition } from './definition.ts';
import { ask, definitions, type Side } from './scenario.ts';

const service = { namespace: 'default', name: 'hook' };

/** What may be said of a conversion, and what not. */
export async function saidOfConversion(side: Side): Promise<void> {
  const { url, caBundle } = side.hook;
  const webhook = (clientConfig: object, more: object = {}) => ({
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig, ...more },
  });
  const conversions: Record<string, unknown> = {
    'by url': webhook({ url, caBundle }),
    'by service': webhook({ service, caBundle }),
    'by a service of a port and path': webhook({ service: { ...service, port: 8443, path: '/convert' } }),
    'no webhook': { strategy: 'Webhook' },
    'no client': { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } },
    neither: webhook({}),
    both: webhook({ url, service }),
    'no https': webhook({ url: 'http://example.com' }),
    'no versions': webhook({ url }, { conversionReviewVersions: [] }),
    'no version that is known': webhook({ url }, { conversionReviewVersions: ['v9'] }),
    'versions of which one is known': webhook({ url }, { conversionReviewVersions: ['v9', 'v1beta1'] }),
    'the same version twice': webhook({ url }, { conversionReviewVersions: ['v1', 'v1'] }),
    'no strategy': { webhook: webhook({ url }).webhook },
    'another strategy': { strategy: 'Other' },
    'a webhook without the strategy': { strategy: 'None', webhook: webhook({ url }).webhook },
    'no port': webhook({ service: { ...service, port: 0 } }),
    'a path that is none': webhook({ service: { ...service, path: 'convert' } }),
    'an authority of spaces': webhook({ url, caBundle: Buffer.from('  \n').toString('base64') }),
    'an authority that is none': webhook({ url, caBundle: Buffer.from('none').toString('base64') }),
    'an authority that is no base64': webhook({ url, caBundle: 'none!' }),
  };
  for (const [step, conversion] of Object.entries(conversions)) {
    const wanted = definition(side.hook);
    const body = { ...wanted, spec: { ...wanted.spec, conversion } };
    const answer = await ask(side, step, { method: 'POST', path: `${definitions}?dryRun=All`, body });
    // What is defined is compared elsewhere.
    const told = side.told.at(-1);
    // biome-ignore lint/suspicious/noExplicitAny: an answer is read field by field.
    if (answer.status < 300 && told) told.body = (told.body as any).spec.conversion;
  }
}
