// Formats numbers.

const NUMBER = new Intl.NumberFormat("en");

/** A whole number with thousands separators. */
export const count = (number) => NUMBER.format(number);

/** A share in percent. */
export const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)}%`;

/** An interval of shares; those by Student's t can reach below 0 and above 1. */
export const between = (interval) =>
  interval ? `${(100 * Math.max(0, interval.low)).toFixed(1)} to ${(100 * Math.min(1, interval.high)).toFixed(1)}%` : "";

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
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A large number in short: `1.2M`. */
export const short = (number) => SHORT.format(number);

/** A cost in dollars. */
export const dollars = (usd) => (usd === 0 ? "–" : usd < 0.01 ? "< $0.01" : `$${usd < 100 ? usd.toFixed(2) : NUMBER.format(Math.round(usd))}`);

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const UNITS = [[60, "s"], [60, "min"], [24, "h"], [7, "d"], [52, "wk"], [Infinity, "y"]];

/** How long ago a time in seconds since 1970 is, in short. */
export function ago(time, now = Date.now() / 1000) {
  let past = Math.max(0, now - time);
  for (const [size, unit] of UNITS) {
    if (past < size) return unit === "s" && past < 5 ? "now" : `${Math.floor(past)} ${unit} ago`;
    past /= size;
  }
  return "";
}

/** A time in seconds since 1970 as a date. */
export const date = (time) => DATE.format(new Date(1000 * time));
