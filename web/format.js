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

/** A solver's size. */
export const size = (params) => (params ? `${params >= 0.1 ? params : params * 1000}${params >= 0.1 ? "B" : "M"}` : "");

/** A duration. */
export const seconds = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
