// Lanczos coefficients for g = 7, n = 9: relative error below 1e-15 for positive arguments.
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]
const EULER = 0.57721566490153286

/** Computes the gamma function. */
export function gamma(value: number): number {
  if (Number.isInteger(value)) {
    if (value <= 0) return value === 0 ? Infinity : NaN
    if (value < 172) {
      let product = 1
      for (let factor = 2; factor < value; factor += 1) product *= factor
      return product
    }
  }
  if (value < 0.5) return Math.PI / (Math.sin(Math.PI * value) * gamma(1 - value))
  const shifted = value - 1
  const t = shifted + 7.5
  return Math.sqrt(2 * Math.PI) * t ** (shifted + 0.5) * Math.exp(-t) * series(shifted)
}

/** Computes the logarithm of the size of the gamma function. */
export function lgamma(value: number): number {
  if (!Number.isFinite(value)) return Math.abs(value)
  if (value <= 0 && Number.isInteger(value)) return Infinity
  if (value === 1 || value === 2) return 0
  if (value < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * value))) - lgamma(1 - value)
  const shifted = value - 1
  const t = shifted + 7.5
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(series(shifted))
}

function series(value: number): number {
  return LANCZOS.reduce((sum, coefficient, index) => index === 0 ? coefficient : sum + coefficient / (value + index), 0)
}

/** Computes the error function. */
export function erf(value: number): number {
  if (Number.isNaN(value)) return NaN
  if (Math.abs(value) > 3) return Math.sign(value) * (1 - erfcTail(Math.abs(value)))
  let term = value
  let sum = value
  for (let n = 1; Math.abs(term) > Number.EPSILON * Math.abs(sum) / 4; n += 1) {
    term *= -(value * value) / n
    sum += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * sum
}

/** Computes one minus the error function, exact for large arguments. */
export function erfc(value: number): number {
  return value > 3 ? erfcTail(value) : 1 - erf(value)
}

// Continued fraction, evaluated from its end.
function erfcTail(value: number): number {
  let fraction = value
  for (let n = 60; n > 0; n -= 1) fraction = value + (n / 2) / fraction
  return Math.exp(-value * value) / (Math.sqrt(Math.PI) * fraction)
}

/** Computes the Bessel function of the first kind of a whole order: the trapezoid rule converges at once on a period. */
export function besselJ(order: number, value: number): number {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? NaN : 0
  const steps = pointsFor(order, value)
  let sum = 0
  for (let step = 0; step < steps; step += 1) {
    const angle = (2 * Math.PI * (step + 0.5)) / steps
    sum += Math.cos(order * angle - value * Math.sin(angle))
  }
  return sum / steps
}

// More points than the integrand has turns; beyond that many, the asymptotic size is below the error anyway.
function pointsFor(order: number, value: number): number {
  return Math.min(100_000, 64 + 2 * Math.ceil(Math.abs(order) + Math.abs(value)))
}

/** Computes the Bessel function of the second kind of a whole order. */
export function besselY(order: number, value: number): number {
  if (value < 0 || Number.isNaN(value)) return NaN
  if (value === 0) return -Infinity
  if (value === Infinity) return 0
  if (order < 0) return (order % 2 === 0 ? 1 : -1) * besselY(-order, value)
  let previous = besselY0(value)
  if (order === 0) return previous
  // The Wronskian gives the next order without a series of its own.
  let current = (besselJ(1, value) * previous - 2 / (Math.PI * value)) / besselJ(0, value)
  for (let n = 1; n < order; n += 1) [previous, current] = [current, (2 * n / value) * current - previous]
  return current
}

// Neumann's series.
function besselY0(value: number): number {
  let sum = 0
  const terms = 20 + Math.ceil(value)
  for (let k = 1; k <= terms; k += 1) sum += ((k % 2 === 0 ? 1 : -1) * besselJ(2 * k, value)) / k
  return (2 / Math.PI) * ((Math.log(value / 2) + EULER) * besselJ(0, value) - 2 * sum)
}
