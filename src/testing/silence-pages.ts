// Which sentences of a page deny something, and on which ports does each rest?
// A page is read as lines: a line of a table, a badge with its title, a sentence.

import { wordingOf } from './silence-words.ts';
import { SUBJECT_DENIALS } from './twins/ports.ts';

/** Words of pages by which a line could deny something, beside those of answers. */
const DENYING = /\b(not on|does not apply|no entry|untouched|clean)\b/i;

/** What a line denies, and what it rests on: tags of ports, or a method as `port.method`. */
type PageSaying = readonly [line: RegExp, restsOn: readonly string[]];

const LIST = ['sanctions_list'];
const TIES = ['entity_ties'];
const OTHERS = ['other_lists'];
const HISTORY = ['transfer_history'];
const RECORDS = ['deployer_records'];
const LAUNCHES = ['wallet_launches'];

const DENIALS: readonly PageSaying[] = [
  ...SUBJECT_DENIALS,
  [/^None found Sanctions list$/, LIST],
  [/^No entry on the .* published [\d-]+\.$/, LIST],
  [/^None found Other lists$/, OTHERS],
  [/^Lists of other authorities None found$/, OTHERS],
  [/^No entry on another-authority\.$/, OTHERS],
  [/^another-authority · .* · no entry$/, OTHERS],
  [/^[a-z0-9 ]+ · [\w…]+ · no entry$/, LIST],
  [/^(First|Last) transfer seen · none$|^Funded by · none$/, HISTORY],
  [/^(Code|Created by|Verified source|Kind|Balance) · none$/, ['chain_facts']],
  [/^None found Launches$|^Tokens that it launched None found$/, [...RECORDS, ...LAUNCHES]],
  [/^Died · none listed$/, RECORDS],
  [
    /^None found Two hops: No path of two hops leads to a listed address\.$/,
    ['sanctions_list', 'transfer_history'],
  ],
  [/^Sanctions lists None found$/, [...LIST, ...OTHERS]],
  [/^None found Two hops$/, ['sanctions_list', 'transfer_history']],
  [/^Two hops of transfers None found$/, ['sanctions_list', 'transfer_history']],
  [/^No path of two hops leads to a listed address\.$/, ['sanctions_list', 'transfer_history']],
  [/^Sanctions lists, and paths to them None found$/, [...LIST, ...OTHERS, ...HISTORY]],
  [/^(None found Findings|What was observed None found)$/, HISTORY],
  [/^Each kind of finding was looked for, and none was seen\.$/, HISTORY],
  [/^(None found Ties|What ties it to other addresses None found)$/, TIES],
  [/^No evidence ties it to another address\.$/, TIES],
  [/^(None found|Exchanges) (Exchanges|None found)$/, ['exchange_labels', 'transfer_history']],
  [/^No label is held, and no transfer with a labelled wallet\.$/, ['exchange_labels']],
  [
    /^A table of \d+ rows? holds no label of it\. Whose it is, that does not say\.$/,
    ['exchange_labels'],
  ],
  [/^(None found|Bridges) (Bridges|None found)$/, ['bridge_registry', 'transfer_history']],
  [/^No contract of the registry was touched on \w+\.$/, ['bridge_registry', 'transfer_history']],
  [/^(The walk|No_record: the walk|no_record: the walk) of \S+ attributes no /, RECORDS],
  [/^(no_record: the|The) walk of \S+ met no token in /, RECORDS],
  [/^No launch is credited to it$/, [...RECORDS, ...LAUNCHES]],
  [/^It launched tokens, and no venue ever listed one\.$|No venue ever listed a launch$/, RECORDS],
  [/^Never listed · \d+$|· never listed ·/, RECORDS],
  [/^(no_record: t|T)his wallet signed none of \d+ settled launches( on record)?[.;]/, LAUNCHES],
  [/^Nobody is named as its maker$/, ['chain_facts', 'wallet_launches']],
  [/^Everything that became known here was scored\. It clears nobody\.$/, ['rug_flags']],
  [/^Established tokens left out: 0\.$/, ['rug_flags']],
  [/^No record has been made yet: “Record this” on the page of /, ['screening_records']],
  [/^No launch of the last twelve months is on record here\./, ['launch_months']],
  [/^No address is watched yet\.$/, ['watchlist.list']],
  [/^No list changed an address of the one before\.$/, ['sanctions_changes']],
  [/^No change has been told yet\.$/, ['watchlist.newest']],
  [/^You have no key that opens anything\.$|^0 of \d+ active keys of your plan\.$/, ['keys']],
  [/^No use of a key is written down for these days\.$/, ['quota']],
  [/^Nothing has been changed yet\.$/, ['access_log']],
  [/^No browser is signed in\.$/, ['sessions']],
  [/^0 of [\d,]+, anew in/, ['quota']],
  [/^No rug model of this version was ever published here\.$/, ['published_model']],
  [/^No such version$|^Its newest settled flags here · 0, /, ['published_model']],
  [/^The log holds no leaf yet\.$/, ['transparency_log']],
  [/^No chain is followed: history is read as it is asked for\.$/, ['follow_reports']],
  // Of the ring either is a statement: that it was not read is neither.
  [/^(Whole|Not whole): /, ['raw_ring']],
];

/** Lines with such a word that tell what a page is, or what was not looked at. */
const DENY_NOTHING: readonly RegExp[] = [
  /^“Inferred” is a likelihood, .* “None found” is about what was read, and clears nobody\. /,
  /^(This|That) (says nothing|is no (clearance|statement|quiet)|opens nothing)/,
  /^It rests on no source$/,
  /^(?:Left: who paid it most\. )?Solid: money; .* dashed: nobody looked\./,
  /^\d+ busy counterpart(?:y|ies) dealt with a listed address; no path leads past them$/,
  /^No part above dates anything\. That is no quiet address:/,
  /^A table of \d+ rows holds /,
  /Nothing here is investment, legal or tax advice/,
  /^A bridge trace looks for transfers with these \d+ contracts and no others\./,
  /^A link is an inference\. Assumed means that no data set/,
  /^(No|none reached)\.?$/,
  /^\d+ deposit addresses are inferred there, /,
  /^Not read for this kind of address\. /,
  /^((Receipts|Not checked [\w, ]+): )?Address: form not recognised; nothing was checked\.$/,
  /^Busy counterparties that dealt with a listed address; no path leads past them$/,
  /a message, no money/,
  /Launched a token \(never listed\)/,
  /^\d+ contracts are no launch of it, or nobody knows$/,
  /none held/,
  /^Nobody has looked$/,
  /^The answer rests on no source\.$/,
  /^No table could be read: /,
  /^Nothing can be said of this window$/,
  /^Not answered \(\w+\)\. This says nothing about the address\.$/,
  /^Whatever no list, table or chain named below holds\.$/,
  /^(Rug model · )?No rug model has been published on this deployment; nothing is scored\./,
  /^[\w ]+ · (never loaded|unreadable|past its age) · /,
  /^Form · No\. · /,
  / · none reached$/,
  /^Addresses that are screened again whenever .* says nothing good of it: /,
  /^As this process saw them: .* whether it was up is not known\.( Watched since .*)?$/,
  /^Each bar is an hour, .* A line at the foot: nobody asked\.$/,
  /^Each row is a browser .* opens nothing from then on\.$/,
];

const INLINE = /<\/?(a|code|strong|span|time|b|em|dt|dd|td|th|h2|h3|header)( [^>]*)?>/g;
const CELL_END = /<\/(td|th|dt)>/g;
const ENTITIES = [
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&amp;', '&'],
] as const;

/**
 * What a person reads on a page, in a feed or in a refusal of text alone, line by line. Pictures
 * are left out, which a table tells too, and so is the JSON of an answer, which `silence.test.ts`
 * holds against its schema.
 */
export function linesOf(body: string): readonly string[] {
  const main = body.startsWith('<!doctype') ? body.split('<main')[1] : body;
  if (main === undefined) throw new Error('test: a page without its content');
  const cut = main
    .replaceAll(/<svg.*?<\/svg>/gs, '\n')
    .replaceAll(/<details class="full">.*?<\/details>/gs, '')
    .replaceAll(/ <button class="copy[^>]*>Copy<\/button>/g, '')
    .replaceAll(/<code class="member">(.*?)<\/code>/g, '`$1`')
    .replaceAll(/<pre class="json".*?<\/pre>/gs, '\n')
    .replaceAll(CELL_END, ' · ')
    .replaceAll('</dd>', '\n')
    .replaceAll(/<\/(span|h2|h3)>/g, ' ')
    .replaceAll(INLINE, '')
    .replaceAll(/<[^>]*>/g, '\n');
  const text = ENTITIES.reduce((said, [name, sign]) => said.replaceAll(name, sign), cut);
  return text
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/\s+/g, ' ')
        .replace(/( ·)+ ?$/, '')
        .trim(),
    )
    .filter((line) => line !== '');
}

/** What a line denies: on these ports, on none, or (`null`) as nobody declared. */
export function denialOf(line: string): readonly string[] | null {
  const own = DENIALS.filter(([pattern]) => pattern.test(line));
  if (own.length > 0) return own.flatMap(([, ports]) => ports);
  if (DENY_NOTHING.some((pattern) => pattern.test(line))) return [];
  const { denials, undeclared } = wordingOf(line);
  if (undeclared !== null || (DENYING.test(line) && denials.length === 0)) return null;
  return denials.flat();
}
