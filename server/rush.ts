import { Rush } from '../controller/rush.ts';

/** Of this process. */
export const rush = new Rush();
