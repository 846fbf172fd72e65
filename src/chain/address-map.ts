// A map by address for tables that nearly every address asked about is missing from. A look-up in a
// large map waits for memory; a bitmap of what the map holds lies in the processor's own cache and
// tells nearly every miss (a Bloom filter with one hash: Bloom, 1970).

const BITS_PER_ADDRESS = 16;
const BITS_MIN = 1_024;
const WORD_SHIFT = 5;
/** Characters at the end that are hashed: those in front are of a form, not of an address. */
const HASHED_CHARS = 8;
const FACTOR = 0x9e3779b1;

/** A map by texts. What the bitmap calls missing is missing; of the rest the map itself says it. */
export class AddressMap<V> extends Map<string, V> {
  #bits = new Int32Array(BITS_MIN >>> WORD_SHIFT);
  #shift = Math.clz32(BITS_MIN - 1);

  override set(address: string, value: V): this {
    super.set(address, value);
    if (this.size * BITS_PER_ADDRESS > this.#bits.length << WORD_SHIFT) this.#grow();
    else this.#mark(address);
    return this;
  }

  override get(address: string): V | undefined {
    return this.#isMissing(address) ? undefined : super.get(address);
  }

  override has(address: string): boolean {
    return !this.#isMissing(address) && super.has(address);
  }

  #isMissing(address: string): boolean {
    const bit = hashOf(address) >>> this.#shift;
    return (Number(this.#bits[bit >>> WORD_SHIFT]) & (1 << bit)) === 0;
  }

  #mark(address: string): void {
    const bit = hashOf(address) >>> this.#shift;
    const word = bit >>> WORD_SHIFT;
    this.#bits[word] = Number(this.#bits[word]) | (1 << bit);
  }

  #grow(): void {
    this.#bits = new Int32Array(this.#bits.length * 2);
    this.#shift -= 1;
    for (const address of this.keys()) this.#mark(address);
  }
}

function hashOf(address: string): number {
  let hash = address.length;
  for (let i = Math.max(0, address.length - HASHED_CHARS); i < address.length; i++) {
    hash = Math.imul(hash ^ address.charCodeAt(i), FACTOR);
  }
  return hash;
}
