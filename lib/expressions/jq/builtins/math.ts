import type { Json } from '../../../common/index.ts'
import { select } from '../compile/control.ts'
import { constant, one } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import { combining, unary, type Builtin, type Builtins } from './define.ts'
import { besselJ, besselY, erf, erfc, gamma, lgamma } from './special-functions.ts'

/** Functions of one number. */
const ONE: Readonly<Record<string, (value: number) => number>> = {
  acos: Math.acos, acosh: Math.acosh, asin: Math.asin, asinh: Math.asinh, atan: Math.atan, atanh: Math.atanh, cbrt: Math.cbrt,
  ceil: Math.ceil, cos: Math.cos, cosh: Math.cosh, erf, erfc, exp: Math.exp, exp10: (value) => 10 ** value, pow10: (value) => 10 ** value,
  exp2: (value) => 2 ** value, expm1: Math.expm1, fabs: Math.abs, floor: Math.floor, gamma: lgamma, lgamma, tgamma: gamma,
  j0: (value) => besselJ(0, value), j1: (value) => besselJ(1, value), y0: (value) => besselY(0, value), y1: (value) => besselY(1, value),
  log: Math.log, log10: Math.log10, log1p: Math.log1p, log2: Math.log2,
  logb: (value) => value === 0 ? -Infinity : Number.isFinite(value) ? exponentOf(value) : Math.abs(value),
  nearbyint: roundHalfEven, rint: roundHalfEven, round: (value) => Math.sign(value) * Math.round(Math.abs(value)),
  significand: (value) => value === 0 || !Number.isFinite(value) ? value : value / 2 ** exponentOf(value),
  sin: Math.sin, sinh: Math.sinh, sqrt: Math.sqrt, tan: Math.tan, tanh: Math.tanh, trunc: Math.trunc,
}

/** Functions of several numbers, which are arguments, not the input. */
const SEVERAL: Readonly<Record<string, readonly [number, (...values: number[]) => number]>> = {
  atan2: [2, (y = 0, x = 0) => Math.atan2(y, x)],
  copysign: [2, (size = 0, sign = 0) => Math.abs(size) * (sign < 0 || Object.is(sign, -0) ? -1 : 1)],
  drem: [2, remainder], remainder: [2, remainder],
  fdim: [2, (left = 0, right = 0) => Number.isNaN(left) || Number.isNaN(right) ? NaN : Math.max(0, left - right)],
  fmax: [2, (left = 0, right = 0) => Number.isNaN(left) ? right : Number.isNaN(right) ? left : Math.max(left, right)],
  fmin: [2, (left = 0, right = 0) => Number.isNaN(left) ? right : Number.isNaN(right) ? left : Math.min(left, right)],
  fmod: [2, (left = 0, right = 0) => left % right],
  hypot: [2, (left = 0, right = 0) => Math.hypot(left, right)],
  jn: [2, (order = 0, value = 0) => besselJ(Math.trunc(order), value)],
  yn: [2, (order = 0, value = 0) => besselY(Math.trunc(order), value)],
  ldexp: [2, scale], scalb: [2, scale], scalbln: [2, scale],
  nextafter: [2, nextAfter], nexttoward: [2, nextAfter],
  pow: [2, (base = 0, exponent = 0) => base === 1 ? 1 : base ** exponent],
  fma: [3, (left = 0, right = 0, addend = 0) => left * right + addend],
}

/** Builtins on numbers. */
export const MATH: Builtins = {
  ...Object.fromEntries(Object.entries(ONE).map(([name, compute]) => [`${name}/0`, unary((value) => compute(assertNumber(value)))])),
  ...Object.fromEntries(Object.entries(SEVERAL).map(([name, [arity, compute]]) => [
    `${name}/${arity}`, combining((_value, args) => compute(...args.map(assertNumber)), 'last') satisfies Builtin,
  ])),
  'abs/0': unary((value) => {
    if (typeof value === 'number') return value <= 0 ? 0 - value : value
    // Null and booleans sort below zero, so jq tries to negate them.
    if (value === null || typeof value === 'boolean') throw new JqError('%0 cannot be negated', [value])
    return value
  }),
  'frexp/0': unary((value) => {
    const number = assertNumber(value)
    if (number === 0 || !Number.isFinite(number)) return [number, 0]
    const exponent = exponentOf(number) + 1
    return [scale(number, -exponent), exponent]
  }),
  'modf/0': unary((value) => {
    const number = assertNumber(value)
    return Number.isFinite(number) ? [number - Math.trunc(number), Math.trunc(number)] : [0, number]
  }),
  'lgamma_r/0': unary((value) => {
    const number = assertNumber(value)
    return [lgamma(number), gamma(number) < 0 ? -1 : 1]
  }),
  'infinite/0': () => constant(Infinity),
  'nan/0': () => constant(NaN),
  'isinfinite/0': unary((value) => Math.abs(assertNumber(value)) === Infinity),
  'isfinite/0': unary((value) => Number.isFinite(assertNumber(value))),
  'isnan/0': unary((value) => Number.isNaN(assertNumber(value))),
  'isnormal/0': unary((value) => isNormal(assertNumber(value))),
  'finites/0': () => select(one((value) => Number.isFinite(assertNumber(value)))),
  'normals/0': () => select(one((value) => isNormal(assertNumber(value)))),
}

const SMALLEST_NORMAL = 2 ** -1022

function assertNumber(value: Json): number {
  if (typeof value !== 'number') throw new JqError('%0 number required', [value])
  return value
}

function isNormal(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) >= SMALLEST_NORMAL
}

/** Gives the power of two at or below the size of a number other than zero. */
function exponentOf(value: number): number {
  const view = new DataView(new ArrayBuffer(8))
  const normal = Math.abs(value) >= SMALLEST_NORMAL
  view.setFloat64(0, normal ? value : value * 2 ** 54)
  return ((view.getUint16(0) >> 4) & 0x7ff) - 1023 - (normal ? 0 : 54)
}

// In steps, because the power alone may lie outside the range of numbers.
function scale(value = 0, exponent = 0): number {
  const whole = Math.trunc(Math.max(-2200, Math.min(2200, exponent)))
  const half = Math.trunc(whole / 2)
  return value * 2 ** half * 2 ** (whole - half)
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  if (rest !== 0.5) return Math.round(value)
  return floor % 2 === 0 ? floor : floor + 1
}

function remainder(left = 0, right = 0): number {
  if (right === 0) return NaN
  return left - right * roundHalfEven(left / right)
}

function nextAfter(from = 0, to = 0): number {
  if (Number.isNaN(from) || Number.isNaN(to)) return NaN
  if (from === to) return to
  if (from === 0) return to > 0 ? Number.MIN_VALUE : -Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, from)
  const up = (to > from) === (from > 0)
  view.setBigInt64(0, view.getBigInt64(0) + (up ? 1n : -1n))
  return view.getFloat64(0)
}
