import type { AdmissionPlugin } from '../plugins.ts';
import { refuseEnding } from '../registry/late.ts';

/** Of a definition that is going nothing new is made: who counted its objects as gone would leave it behind. */
export const endingDefinitionAdmission: AdmissionPlugin = {
  name: 'DefinitionLifecycle',
  mutate({ operation, requested, subresource, name }) {
    if (operation === 'CREATE' && subresource === '' && requested.isEnding) refuseEnding(requested, name);
  },
};
