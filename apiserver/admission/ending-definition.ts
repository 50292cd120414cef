import { forbidden } from '../../kube/status.ts';
import type { AdmissionPlugin } from '../plugins.ts';

/** Of a definition that is going nothing new is made: who counted its objects as gone would leave it behind. */
export const endingDefinitionAdmission: AdmissionPlugin = {
  name: 'DefinitionLifecycle',
  mutate({ operation, requested, subresource, name }) {
    if (operation !== 'CREATE' || subresource !== '' || !requested.isEnding) return;
    const why = 'create not allowed while custom resource definition is terminating';
    throw forbidden(requested.info, name, why);
  },
};
