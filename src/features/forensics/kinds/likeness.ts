// Which addresses and token symbols are made to be taken for others?
// Wallets show the ends of an address and the letters of a symbol, so likeness is of those; it
// refuses to say why two are alike, which may be chance.

/** How many characters at each end wallets show, and poisoners therefore copy. */
const SHOWN_CHARS = 4;
const HEX_PREFIX = '0x';

/** What a wallet shows of an address; two different addresses with the same are alike. */
export function shownEnds(address: string): string {
  const digits = address.startsWith(HEX_PREFIX) ? address.slice(HEX_PREFIX.length) : address;
  return `${digits.slice(0, SHOWN_CHARS)}…${digits.slice(-SHOWN_CHARS)}`;
}

// Letters of other scripts drawn like Latin ones: unicode.org/Public/security, confusables.txt,
// those that occur in copies of USDT, USDC, DAI, WETH and the chains' coins.
const DRAWN_ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    А: 'A',
    В: 'B',
    С: 'C',
    Е: 'E',
    Н: 'H',
    І: 'I',
    Ј: 'J',
    К: 'K',
    М: 'M',
    О: 'O',
    Р: 'P',
    Ѕ: 'S',
    Т: 'T',
    Х: 'X',
    У: 'Y',
    Ԁ: 'D',
    Ԝ: 'W',
    Ս: 'U',
    Ո: 'N',
    Α: 'A',
    Β: 'B',
    Ε: 'E',
    Η: 'H',
    Ι: 'I',
    Κ: 'K',
    Μ: 'M',
    Ν: 'N',
    Ο: 'O',
    Ρ: 'P',
    Τ: 'T',
    Υ: 'Y',
    Χ: 'X',
    Ζ: 'Z',
    Ϲ: 'C',
    Ꭰ: 'D',
    Ꮪ: 'S',
    Ꭲ: 'T',
    Ꮯ: 'C',
    Ꭼ: 'E',
    Ꮃ: 'W',
    ꓓ: 'D',
    ꓢ: 'S',
    ꓚ: 'C',
    ꓴ: 'U',
    ꓔ: 'T',
    ꓮ: 'A',
    '₮': 'T',
    $: 'S',
    '0': 'O',
    '1': 'I',
  }),
);
const MARKS = /[\p{M}\p{Cf}\p{Z}\p{Cc}.\-_]/gu;

/** A symbol as a hurried reader sees it: compatible forms, marks and other scripts folded. */
export function foldedSymbol(symbol: string): string {
  const plain = symbol.normalize('NFKD').replace(MARKS, '').toUpperCase();
  return [...plain].map(latin).join('');
}

function latin(letter: string): string {
  const drawn = DRAWN_ALIKE.get(letter);
  return drawn === undefined ? letter : drawn;
}
