import { describe, expect, test } from 'vitest';
import { DAY_S } from '../../chain/time.ts';
import type { ListEntry } from '../../ports/sanctions.ts';
import { addressNamed } from '../../testing/addresses.ts';
import { STILL_NOW, stillClock } from '../../testing/clock.ts';
import { memorySanctionsList } from '../../testing/twins/sanctions.ts';
import {
  type DirectCheck,
  directCheck,
  entriesOf,
  type ListSubject,
  listSubject,
  spellingsOf,
} from './direct-check.ts';

const EVM = addressNamed('evm_checksum', 'listed');
const TRON = addressNamed('tron', 'listed');
const MONERO = addressNamed('monero', 'listed');

function entryOf(address: string): ListEntry {
  return {
    address,
    currency: 'XBT',
    entity: 'PARTY',
    type: 'Entity',
    programs: ['CYBER2'],
    uid: '1',
    remarks: null,
    listed_on: null,
    note: null,
  };
}

function subjectOf(text: string): ListSubject {
  const subject = listSubject(text);
  if (subject === null) throw new Error('test: no subject');
  return subject;
}

async function check(text: string, listed: string[], ageS = 60): Promise<DirectCheck> {
  const publications = [
    { published: '2026-09-20', checked_at: STILL_NOW - ageS, entries: listed.map(entryOf) },
  ];
  const rules = { maxAgeS: 7 * DAY_S, simulated: false, now: stillClock() };
  const list = memorySanctionsList({ publications, ...rules });
  const subject = subjectOf(text);
  return directCheck(subject, await list.lookUp(spellingsOf(subject)), false);
}

function listedIn(result: DirectCheck, text: string): boolean | string {
  if (result.outcome !== 'checked') return result.outcome;
  return entriesOf(result.look.value, subjectOf(text).address).length > 0;
}

describe('the direct check', () => {
  test('an EVM address is found in any case, and no other address is', async () => {
    for (const asked of [EVM, EVM.toLowerCase(), `0x${EVM.slice(2).toUpperCase()}`]) {
      expect(listedIn(await check(asked, [EVM]), asked)).toBe(true);
      expect(listedIn(await check(asked, [EVM.toLowerCase()]), asked)).toBe(true);
    }
    const near = EVM.slice(0, -1) + (EVM.endsWith('0') ? '1' : '0');
    expect(listedIn(await check(near, [EVM]), near)).toBe(false);
  });

  test('a text of no known form is answered where it stands on the list', async () => {
    expect(listedIn(await check(MONERO, [MONERO]), MONERO)).toBe(true);
    expect(await check(MONERO, [EVM])).toEqual({
      outcome: 'misformed',
      code: 'form_not_recognised',
    });
    // Its lower-case l, which no base58 has, is written as the capital that it was.
    const folded = 'fwzedvtykqtp4cxht7xdnLidradrjknmzga2qnjptpg8';
    expect(await check(folded, [EVM])).toEqual({
      outcome: 'misformed',
      code: 'solana_letter_case',
    });
  });

  test('texts that can stand on no list are no subject', () => {
    const texts = ['', ' ', `${EVM} `, 'a b', 'é', 'x'.repeat(129), 'tab\there', '\u202e0xabc'];
    for (const text of texts) expect(listSubject(text), text).toBeNull();
  });

  test('a list past its age shows a listing and no absence', async () => {
    const old = 8 * DAY_S;
    expect(listedIn(await check(EVM, [EVM], old), EVM)).toBe(true);
    const miss = await check(TRON, [EVM], old);
    expect(miss.outcome === 'silent' && miss.why.code).toBe('list_too_old');
    const literal = await check(MONERO, [EVM], old);
    expect(literal.outcome === 'silent' && literal.why.code).toBe('list_too_old');
  });
});

describe('equivalent forms', () => {
  test('a listed one is told apart and never folded into the answer', async () => {
    const [, , hex] = spellingsOf(subjectOf(TRON));
    const asked = spellingsOf(subjectOf(TRON))[1];
    if (asked === undefined || hex === undefined) throw new Error('test: no forms');
    const result = await check(asked, [TRON]);
    expect(listedIn(result, asked)).toBe(false);
    expect(result.outcome === 'checked' && result.listedForms).toEqual([TRON]);
  });

  test('of a listed EVM address its own checksum spelling is no other that stands there', async () => {
    const result = await check(EVM, [EVM]);
    expect(result.outcome === 'checked' && result.listedForms).toEqual([]);
    const both = await check(EVM, [EVM, String(spellingsOf(subjectOf(EVM))[2])]);
    expect(both.outcome === 'checked' && both.listedForms).toEqual([
      spellingsOf(subjectOf(EVM))[2],
    ]);
  });

  test('on an old list one that is held is told, and of the others nothing is', async () => {
    const [, evmHex] = spellingsOf(subjectOf(TRON));
    const result = await check(TRON, [TRON], 8 * DAY_S);
    const forms = result.outcome === 'checked' ? result.forms : [];
    expect(forms.map(({ listed }) => listed)).toEqual([null, null]);
    const missed = await check(String(evmHex), [TRON], 8 * DAY_S);
    expect(missed.outcome === 'silent' && missed.why.reason).toMatch(
      `Another form of the same key or account stands on it: ${TRON}.`,
    );
  });

  test('each is looked up with the subject, in one question', async () => {
    const result = await check(TRON, [TRON]);
    const forms = result.outcome === 'checked' ? result.forms : [];
    expect(forms.map(({ form, listed }) => [form, listed])).toEqual([
      ['evm_hex', false],
      ['tron_hex', false],
    ]);
  });
});
