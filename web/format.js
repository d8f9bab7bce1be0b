// Formats numbers.

const NUMBER = new Intl.NumberFormat("en");

/** A whole number with thousands separators. */
export const count = (number) => NUMBER.format(number);

/** A share in percent. */
export const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)}%`;

/** An interval of shares. */
export const between = (interval) =>
  interval ? `${(100 * interval.low).toFixed(1)} to ${(100 * interval.high).toFixed(1)}%` : "";

/** A difference of shares in points, with its sign. */
export const points = (value) => `${value >= 0 ? "+" : "−"}${Math.abs(100 * value).toFixed(1)}`;

/** A solver's size from billions of parameters: `103k`, `1.0M`, `1.2B`. */
export const size = (billions) => {
  const [unit, scale] = billions < 999.5e-6 ? ["k", 1e6] : billions < 0.9995 ? ["M", 1e3] : ["B", 1];
  const number = billions * scale;
  return billions ? `${number.toFixed(unit !== "k" && number < 9.95 ? 1 : 0)}${unit}` : "";
};

/** A duration. */
export const seconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;

/** A cost. */
export const usd = (value) => (value > 0 ? `$${value < 0.01 ? value.toPrecision(2) : value.toFixed(4)}` : "$0");
