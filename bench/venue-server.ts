import { SIMULATED_WEIGHT } from '../src/features/series/feature.ts';
import { startHyperliquid } from '../src/world/hyperliquid-api.ts';
import { worldVenueBook } from '../src/world/venue-book.ts';

const { max: weightMax } = SIMULATED_WEIGHT;

process.once('message', () => {
  void startHyperliquid(worldVenueBook(Date.now), { nowMs: Date.now, weightMax }).then(({ url }) =>
    process.send?.(url.href),
  );
});
