// Under which other spellings may a list hold the same key or account?
// Only what follows from the address alone is told: no form is guessed from history.

import { base58xrp, hex } from '@scure/base';
import {
  checksumAddress,
  type EvmAddress,
  type KnownAddress,
  TRON_VERSION,
  type TronAddress,
} from './address.ts';
import { checkedBase58, encodeBase58check, withChecksum } from './base58check.ts';
import { CASHADDR_VERSION, encodeCashaddr } from './cashaddr.ts';
import {
  type CoinForm,
  HASH_FORMS,
  type Holder,
  MONERO_VERSION,
  moneroAddress,
  moneroPayload,
  parseCoinAddress,
  RIPPLE_VERSION,
} from './coin-address.ts';
import { encodeWitness, WITNESS_CHAINS, type Witness } from './segwit.ts';

/**
 * Another spelling of an address. `same_account`: the same account of the same chain.
 * `same_key`: the account that the same key, or the same script, controls elsewhere.
 */
export type EquivalentForm = {
  form: 'eip55' | 'tron_base58' | 'evm_hex' | 'tron_hex' | CoinForm;
  address: string;
  relation: 'same_key' | 'same_account';
};

/** The other spellings under which a list may hold the same key or account. */
export function equivalentForms(known: KnownAddress): EquivalentForm[] {
  const others = otherForms(known);
  if (known.kind !== 'evm') return others;
  const address = checksumAddress(known.address);
  return [{ form: 'eip55', address, relation: 'same_account' }, ...others];
}

/** The same, but for those that compare as the address itself does. */
export function otherForms({ kind, address }: KnownAddress): EquivalentForm[] {
  switch (kind) {
    case 'evm':
      return [tronForm(address)];
    case 'tron':
      return formsOfTron(address);
    case 'solana':
      return [];
    default:
      return formsOfCoin(address);
  }
}

const PREFIX_CHARS = '0x'.length;

function tronForm(address: EvmAddress): EquivalentForm {
  const tron = encodeBase58check([TRON_VERSION], hex.decode(address.slice(PREFIX_CHARS)));
  return { form: 'tron_base58', address: tron, relation: 'same_key' };
}

function formsOfTron(address: TronAddress): EquivalentForm[] {
  const whole = checkedBase58(address);
  if (whole === null) throw new Error('equivalent form: a Tron address without its checksum');
  return [
    { form: 'evm_hex', address: `0x${hex.encode(whole.subarray(1))}`, relation: 'same_key' },
    { form: 'tron_hex', address: hex.encode(whole), relation: 'same_account' },
  ];
}

/** The forms of Bitcoin and its kin; none for a text that is of no known form. */
function formsOfCoin(text: string): EquivalentForm[] {
  const coin = parseCoinAddress(text);
  if (coin === null) return [];
  if (coin.form === 'monero_integrated') return [withoutPaymentId(coin.address)];
  if (coin.holder === null) return [];
  return formsOfHolder(coin.holder).filter(({ address }) => address !== coin.address);
}

/** Every address that pays one holder. */
function formsOfHolder(holder: Holder): EquivalentForm[] {
  if (holder.of === 'witness') return witnessForms(holder.witness);
  const { of, hash } = holder;
  // The long hash of a script is Bitcoin Cash's alone.
  if (hash.length !== HASH_BYTES) return [];
  const forms: EquivalentForm[] = HASH_FORMS.filter((one) => one.of === of).map(
    ({ form, version }) => sameKey(form, encodeBase58check(version, hash)),
  );
  const cash = CASHADDR_VERSION[of === 'key_hash' ? 'p2pkh' : 'p2sh'];
  forms.push(sameKey('cashaddr', encodeCashaddr(cash, hash)));
  if (of === 'script_hash') return forms;
  const ripple = base58xrp.encode(withChecksum(RIPPLE_VERSION, hash));
  return [...forms, sameKey('ripple', ripple), ...witnessForms({ version: 0, program: hash })];
}

const HASH_BYTES = 20;

function witnessForms(witness: Witness): EquivalentForm[] {
  return WITNESS_CHAINS.map((chain) => sameKey(`${chain}_segwit`, encodeWitness(chain, witness)));
}

function sameKey(form: CoinForm, address: string): EquivalentForm {
  return { form, address, relation: 'same_key' };
}

const MONERO_KEYS_BYTES = 64;

/** An integrated address is an account's address with a payment's number behind its keys. */
function withoutPaymentId(text: string): EquivalentForm {
  const payload = moneroPayload(text);
  if (payload === null) throw new Error('equivalent form: a Monero address without its checksum');
  const account = Uint8Array.of(MONERO_VERSION, ...payload.subarray(1, 1 + MONERO_KEYS_BYTES));
  return { form: 'monero', address: moneroAddress(account), relation: 'same_account' };
}
