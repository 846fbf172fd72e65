// Which chance do log-odds stand for, by rows that the trees never saw? (Platt's scaling)
// The slope stays over zero, so that the order of scores and the signs of contributions are kept.

/** Makes calibrated log-odds of what the trees add up to. */
export type Calibration = { readonly slope: number; readonly intercept: number };

const STEPS_MAX = 100;
const STEP_END = 1e-10;
const SLOPE_MIN = 0.01;
const RIDGE = 1e-9;

/** Fits the two numbers by Newton's method to Platt's softened targets. */
export function calibrationOf(margins: readonly number[], died: readonly boolean[]): Calibration {
  const count = died.filter(Boolean).length;
  const high = (count + 1) / (count + 2);
  const low = 1 / (died.length - count + 2);
  let [slope, intercept] = [1, 0];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    let [gs, gi, hss, hsi, hii] = [0, 0, RIDGE, 0, RIDGE];
    for (const [at, margin] of margins.entries()) {
      const chance = 1 / (1 + Math.exp(-(slope * margin + intercept)));
      const off = chance - (died[at] === true ? high : low);
      const weight = chance * (1 - chance);
      gs += off * margin;
      gi += off;
      hss += weight * margin * margin;
      hsi += weight * margin;
      hii += weight;
    }
    const determinant = hss * hii - hsi * hsi;
    const bySlope = (hii * gs - hsi * gi) / determinant;
    const byIntercept = (hss * gi - hsi * gs) / determinant;
    slope = Math.max(SLOPE_MIN, slope - bySlope);
    intercept -= byIntercept;
    if (Math.abs(bySlope) + Math.abs(byIntercept) < STEP_END) break;
  }
  return { slope, intercept };
}
