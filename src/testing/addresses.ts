import { inventAddress, type MadeUpForm } from '../world/made-up-address.ts';

const SEED = 'tests';

/** The address of a name in tests; the same name is the same address, for ever. */
export function addressNamed(form: MadeUpForm, name: string): string {
  return inventAddress(SEED, form, name);
}

/** An EVM address in lower case by name. */
export function evm(name: string): string {
  return addressNamed('evm', name);
}
