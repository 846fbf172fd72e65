// Takes in the market calls of a file. Each is received now, whatever date it bears: a call that
// was said long ago is retrospective. A row that was taken in before changes nothing.

import { addDecimals, compareDecimals, parseDecimal } from '../../chain/amount.ts';
import { MS_PER_S, type UnixSeconds } from '../../chain/time.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { CallProduction, NewCall } from '../../ports/provider-calls.ts';
import { ASSET_NAME } from '../../ports/series.ts';
import type { RawRow, TableFiles } from '../../ports/tables.ts';
import { hashRules, marketCall } from './call.ts';

const HORIZON_H_MAX = 720;
const REFERENCE_CHARS_MAX = 200;
/** So much of the name of a column is repeated. */
const NAME_CHARS_MAX = 40;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const COLUMNS = ['asset', 'direction', 'horizon_h', 'called_at', 'probability', 'id'] as const;

export type ImportParts = {
  readonly files: TableFiles;
  readonly calls: Pick<CallProduction, 'add' | 'publishRules'>;
  readonly now: () => UnixSeconds;
};

/** A row that was refused, with the field and what was expected. */
export type RefusedCall = { readonly line: number; readonly problem: string };

/** What an import did. */
export type CallImport = {
  readonly added: number;
  readonly known: number;
  readonly retrospective: number;
  readonly refused: number;
};

/** Takes in a file of calls of a provider; what could not be read, or stored, is a reason. */
export async function importCalls(
  { files, calls, now }: ImportParts,
  { path, provider }: { readonly path: string; readonly provider: string },
  onRefused: (row: RefusedCall) => void,
): Promise<CallImport | Why> {
  const opened = await files.open(path);
  if (!opened.checked) return opened.why;
  const ruled = await calls.publishRules(hashRules(), now());
  if (!ruled.checked) return ruled.why;
  let [added, taken, retrospective, refused] = [0, 0, 0, 0];
  for await (const batch of opened.value.rows()) {
    if (!batch.checked) return batch.why;
    const received_at = Math.floor(now());
    const made: NewCall[] = [];
    for (const row of batch.value) {
      const call = 'problem' in row ? row : readRow(row, provider, received_at);
      if ('problem' in call) {
        onRefused(call);
        refused += 1;
      } else made.push(call);
    }
    const kept = await calls.add(made);
    if (!kept.checked) return kept.why;
    added += kept.value;
    taken += made.length;
    retrospective += made.filter(({ statement }) => !statement.prospective).length;
  }
  return { added, known: taken - added, retrospective, refused };
}

function readRow(
  { line, fields }: RawRow,
  provider: string,
  received_at: UnixSeconds,
): NewCall | RefusedCall {
  const problem = (text: string): RefusedCall => ({ line, problem: text });
  const unknown = [...fields.keys()].find((name) => !COLUMNS.some((column) => column === name));
  if (unknown !== undefined) {
    return problem(
      `${unknown.slice(0, NAME_CHARS_MAX)}: unknown column; expected ${COLUMNS.join(', ')}`,
    );
  }
  const asset = fields.get('asset');
  if (asset === undefined || !ASSET_NAME.test(asset)) {
    return problem('asset: expected its name as the venue writes it, such as BTC or kPEPE');
  }
  const direction = fields.get('direction');
  if (direction !== 'long' && direction !== 'short') {
    return problem('direction: expected long or short');
  }
  const horizon = readWhole(fields.get('horizon_h'));
  if (horizon === null || horizon < 1 || horizon > HORIZON_H_MAX) {
    return problem(`horizon_h: expected whole hours from 1 to ${HORIZON_H_MAX}`);
  }
  const called_at = readInstant(fields.get('called_at'));
  if (called_at === null) {
    return problem('called_at: expected a time with its offset, such as 2026-11-21T08:00:00Z');
  }
  if (called_at > received_at) return problem('called_at: expected a time that has come');
  const told = fields.get('probability');
  const probability = told === undefined ? null : readShare(told);
  if (probability === undefined) return problem('probability: expected a decimal from 0 to 1');
  const reference = fields.get('id');
  if (reference === undefined || reference.length > REFERENCE_CHARS_MAX) {
    return problem(`id: expected 1 to ${REFERENCE_CHARS_MAX} characters, the provider's own`);
  }
  return marketCall(asset, horizon, {
    provider,
    says: direction === 'long',
    probability:
      probability === null || direction === 'long'
        ? probability
        : addDecimals('1', `-${probability}`),
    reference,
    rests_on: { direction },
    called_at,
    received_at,
  });
}

function readWhole(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,4}$/.test(text) ? Number(text) : null;
}

function readInstant(text: string | undefined): UnixSeconds | null {
  if (text === undefined || !INSTANT.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? null : Math.floor(ms / MS_PER_S);
}

function readShare(text: string): string | undefined {
  const decimal = parseDecimal(text);
  if (decimal === null) return undefined;
  const isShare = compareDecimals(decimal, '0') >= 0 && compareDecimals(decimal, '1') <= 0;
  return isShare ? decimal : undefined;
}
