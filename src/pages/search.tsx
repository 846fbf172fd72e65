// Where does a person type an address? A form that works without a script.

/** The search box; `value` is what was searched for before. */
export function Search({ value }: { value?: string }) {
  return (
    <search>
      <form class="search seek" action="/search" method="get">
        <label for="q">An address, of whichever chain</label>
        <input
          id="q"
          name="q"
          type="search"
          required
          maxLength={300}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          placeholder="0x… or a Solana, Bitcoin or Tron address"
          {...(value === undefined ? {} : { value })}
        />
        <button type="submit">Open its dossier</button>
      </form>
    </search>
  );
}
