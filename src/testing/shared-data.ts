import { resolve } from 'node:path';

const named = process.env['EXHIBIT_TEST_DATA'];

/** The folder that EXHIBIT_TEST_DATA names, or the one that lies beside a clone. */
export const SHARED_DATA = resolve(named === undefined || named === '' ? '../shared/data' : named);
/** The reason of a test that is left out where that folder is not there. */
export const NO_SHARED_DATA = 'no shared data';
