// Formats addresses, times, amounts and states for every page.

import type { ComponentChildren } from 'preact';
import { parseKnownAddress } from '../chain/address.ts';
import { collect } from '../evidence/measure.ts';
import { shareText, type Weight } from '../evidence/weight.ts';
import { InFull, type OnChain, Whole } from './explorer.tsx';

const MS_PER_S = 1_000;
const MINUTE_CHARS = 16;
const SECOND_CHARS = 19;
const SHORT_MIN = 20;
const HEAD = 8;
const TAIL = 6;

/** A long text by its two ends. */
export function shorten(text: string): string {
  return text.length < SHORT_MIN ? text : `${text.slice(0, HEAD)}…${text.slice(-TAIL)}`;
}

type AddressProps = {
  of: string;
  name?: string | null;
  /** The chains on which it is told of; absent: any. */
  chain?: OnChain;
};

/** An address that leads to its dossier, in full on demand, with the name that is known of it. */
export function Address({ of, name, chain }: AddressProps) {
  return (
    <>
      <a href={`/address/${encodeURIComponent(of)}`} title={of}>
        <code>{shorten(of)}</code>
      </a>
      <InFull of={of} chain={chain === undefined ? null : chain} what="address" />
      {name !== undefined && name !== null && <span class="quiet"> {name}</span>}
    </>
  );
}

/** The id of a transaction, in full on demand. `chain`: where it is; `null`: that is not told. */
export function Tx({ of, chain }: { of: string; chain: string | null }) {
  return (
    <>
      <code title={of}>{shorten(of)}</code>
      <InFull of={of} chain={chain} what="tx" />
    </>
  );
}

/** By an address or a transaction, in lower case, the chains on which an answer tells of it. */
export type Places = ReadonlyMap<string, readonly string[]>;

/** The same of pairs; `null` is the chain of what none is told of. */
export function placesOf(
  pairs: readonly (readonly [name: string, chain: string | null])[],
): Places {
  const places = new Map<string, string[]>();
  for (const [name, chain] of pairs) {
    if (chain !== null) collect(places, name.toLowerCase(), chain);
  }
  return new Map([...places].map(([name, chains]) => [name, [...new Set(chains)]]));
}

type ProseProps = {
  text: string;
  /** The chains of what it names: all on one, or by name; absent: nobody says. */
  chain?: string | Places;
};

/** A sentence of which each address and transaction can be copied, and looked up elsewhere. */
export function Prose({ text, chain }: ProseProps) {
  return (
    <>
      {wordsOf(text, chain).map(({ word, what }, at) => {
        if (what === null) return word;
        if (what === 'field') {
          return (
            <code key={at} class="member">
              {word.slice(1, -1)}
            </code>
          );
        }
        return <Whole key={at} of={word} chain={placeIn(chain, word)} what={what} />;
      })}
    </>
  );
}

function placeIn(chain: ProseProps['chain'], word: string): OnChain {
  if (chain === undefined) return null;
  if (typeof chain === 'string') return chain;
  const told = chain.get(word.toLowerCase());
  return told === undefined ? null : told;
}

/** The same sentence, each address and transaction by its two ends. */
export function shortProse(text: string): string {
  return wordsOf(text)
    .map(({ word, what }) => (what === 'address' || what === 'tx' ? shorten(word) : word))
    .join('');
}

type Word = { readonly word: string; readonly what: 'address' | 'tx' | 'field' | null };

/** What is as long as an address or the id of a transaction, or stands in backquotes. */
const NAMED = /(`[^`]+`|\b[0-9A-Za-z]{25,100}\b)/;
const TX = /^0x[0-9a-f]{64}$/i;
/** The same where nothing marks it as one: only an answer about this chain tells of such ids. */
const BITCOIN_TX = /^[0-9a-f]{64}$/;

function wordsOf(text: string, chain?: ProseProps['chain']): readonly Word[] {
  return text.split(NAMED).map((word): Word => {
    if (word.startsWith('`')) return { word, what: 'field' };
    if (TX.test(word) || (chain === 'bitcoin' && BITCOIN_TX.test(word))) {
      return { word, what: 'tx' };
    }
    return { word, what: parseKnownAddress(word) === null ? null : 'address' };
  });
}

/** A moment to the minute: ISO text, or Unix seconds. */
export function Moment({ at }: { at: string | number }) {
  return <time dateTime={isoText(at)}>{momentText(at)}</time>;
}

/** The same as text. */
export function momentText(at: string | number): string {
  return `${isoText(at).slice(0, MINUTE_CHARS).replace('T', ' ')} UTC`;
}

/** A moment to the second, for what is filed or compared. */
export function Second({ at }: { at: string | number }) {
  return <time dateTime={isoText(at)}>{secondText(at)}</time>;
}

/** The same as text. */
export function secondText(at: string | number): string {
  return `${isoText(at).slice(0, SECOND_CHARS).replace('T', ' ')} UTC`;
}

function isoText(at: string | number): string {
  return new Date(typeof at === 'number' ? at * MS_PER_S : at).toISOString();
}

const DOLLARS = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const PLACES = 6;

const CENT = 0.01;

/** US dollars, of decimal text without losing a digit of them; `null`: not priced. */
export function usd(amount: string | number | null): string {
  if (amount === null) return 'not priced';
  if (Number(amount) > 0 && Number(amount) < CENT) return 'under $0.01';
  return DOLLARS.format(amount as Intl.StringNumericLiteral);
}

/** Transfers in dollars, and how many of them have no price: a count is never added to a sum. */
export function worthText({ transfers, usd: sum, unpriced }: Transferred): string {
  const count = countWords(transfers, 'transfer');
  if (sum === null) return `${count}, not priced`;
  return `${usd(sum)} in ${count}${unpriced === 0 ? '' : `, ${unpriced} of them not priced`}`;
}

/** `usd` sums what has a price; `null`: no transfer has one. */
type Transferred = {
  readonly transfers: number;
  readonly usd: string | number | null;
  readonly unpriced: number;
};

/** An exact amount, cut after six places for reading. */
export function amountText(amount: string | null, symbol: string | null): string {
  if (amount === null) return symbol === null ? 'an amount' : `an amount of ${symbol}`;
  const [whole = amount, places] = amount.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const text = places === undefined ? grouped : `${grouped}.${places.slice(0, PLACES)}`;
  return symbol === null ? text : `${text} ${symbol}`;
}

/** `1 transfer`, `2 transfers`. */
export function countWords(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

const SPANS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const;

/** How long ago something was, in its largest unit. */
export function ageText(seconds: number): string {
  const span = SPANS.find(([length]) => seconds >= length);
  if (span === undefined) return 'moments ago';
  return `${countWords(Math.floor(seconds / span[0]), span[1])} ago`;
}

/**
 * The state of a subject: on a list, observed, inferred, searched without a hit, or not checked.
 * An inference has no tone without its weight.
 */
export type Tone =
  | { readonly tone: 'hit' | 'seen' | 'none' | 'open' }
  | { readonly tone: 'inferred'; readonly by: Weight };

const BADGES: { readonly [T in Tone['tone']]: string } = {
  hit: 'Found',
  seen: 'Observed',
  inferred: 'Inferred',
  none: 'None found',
  open: 'Not checked',
};

/** The same in one word, told apart by its form and not by colour alone. */
export function Badge(state: Tone) {
  const { tone } = state;
  const by = state.tone === 'inferred' ? `: ${shareText(state.by)}` : '';
  return (
    <span class={`badge ${tone}`}>
      {BADGES[tone]}
      {by}
    </span>
  );
}

type FactRow = readonly [name: string, value: ComponentChildren];

/** Names and values beside each other. */
export function FactList({ rows }: { rows: readonly FactRow[] }) {
  return (
    <dl class="cells">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type ScrollProps = { of?: string; children: ComponentChildren };
const TABLE = 'A table that may scroll';

/** A block that scrolls by itself if it is wider than the page, also by keyboard. */
export function Scroll({ of = TABLE, children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <div class="scroll" role="group" aria-label={of} tabIndex={0}>
      {children}
    </div>
  );
}

/** A column of a table: its head, what stands in it, and how. */
export type Column<Row> = {
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** A class of its cells, of each or by row: `whole` keeps one on one line, `number` aligns. */
  readonly look?: string | ((row: Row) => string);
  /** Whether its cells name their rows. */
  readonly isName?: true;
};

type TableProps<Row> = {
  readonly caption?: ComponentChildren;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /**
   * Where the page is narrow, `stacks`: cells stand below each other, each beside its head.
   * `lines`: the first two stand on one line, and the others below without a head.
   */
  readonly look?: keyof typeof TABLE_LOOKS;
  /** The text across the columns after the first, for a row without figures. */
  readonly instead?: (row: Row) => string | null;
};

const TABLE_LOOKS = {
  stacks: 'tight stacks',
  lines: 'tight lines',
  tight: 'tight',
  wide: undefined,
} as const;

/** A table that scrolls by itself where it is wider than the page. */
export function Table<Row>({ caption, columns, rows, look = 'stacks', instead }: TableProps<Row>) {
  return (
    <Scroll>
      <table class={TABLE_LOOKS[look]}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(({ head, look }, at) => (
              <th key={at} scope="col" class={look === 'number' ? look : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => {
            const across = instead === undefined ? null : instead(row);
            return (
              <tr key={at}>
                {(across === null ? columns : columns.slice(0, 1)).map((column, of) => (
                  <Cell key={of} column={column} row={row} isStacked={look === 'stacks'} />
                ))}
                {across !== null && <td colSpan={columns.length - 1}>{across}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

type CellProps<Row> = { column: Column<Row>; row: Row; isStacked: boolean };

function Cell<Row>({ column: { head, cell, look, isName }, row, isStacked }: CellProps<Row>) {
  const style = typeof look === 'function' ? look(row) : look;
  if (isName === true) {
    return (
      <th scope="row" class={style}>
        {cell(row)}
      </th>
    );
  }
  return (
    <td class={style} data-head={isStacked ? head : undefined}>
      {cell(row)}
    </td>
  );
}

type PagerProps = {
  /** The subject of the pages. */
  readonly of: string;
  /** The numbers of this page and of the last one, from 1. */
  readonly at: number;
  readonly last: number;
  readonly linkTo: (page: number) => string;
  /** The words of the links. */
  readonly before: string;
  readonly after: string;
};

/** The links between the pages of a list, where there are several. */
export function Pager({ of, at, last, linkTo, before, after }: PagerProps) {
  if (last <= 1) return null;
  return (
    <nav aria-label={`Pages of ${of}`}>
      {at > 1 && (
        <a rel="prev" href={linkTo(at - 1)}>
          {before}
        </a>
      )}
      <span class="quiet">
        Page {at} of {last}
      </span>{' '}
      {at < last && (
        <a rel="next" href={linkTo(at + 1)}>
          {after}
        </a>
      )}
    </nav>
  );
}

/** The field of a form that holds the token of its session. */
export function FormToken({ token }: { token: string }) {
  return <input type="hidden" name="form_token" value={token} />;
}
