import type { Json, JsonObject } from '../../../common/index.ts'
import { ARITHMETIC, COMPARISON, add, addOwned, divide, multiply, subtract } from '../arithmetic.ts'
import type { ArithmeticOperator, ComparisonOperator } from '../ast.ts'
import { JqError } from '../failure.ts'
import type { Env } from '../run.ts'
import { equals, isTruthy } from '../value.ts'
import { constant, many, memberName, NONE, one, optional, single, type Accumulate, type Filter } from './filter.ts'

type One = (value: Json, env: Env) => Json

/** `left + right` and its like: the right operand is the outer loop. */
export function arithmetic(operator: ArithmeticOperator, left: Filter, right: Filter, offset: number): Filter {
  const getLeft = single(left)
  const getRight = single(right)
  const usesInput = left.usesInput || right.usesInput
  if (getLeft && getRight) {
    const appends = operator === '+' && left.keys?.length === 0 && !right.usesInput
    const accumulate: Accumulate = (state, env, owned) => {
      const value = getRight(state, env)
      return typeof state === 'number' && typeof value === 'number' ? state + value : addOwned(state, value, env.run, owned)
    }
    return one(arithmeticGet(operator, getLeft, getRight, offset), { usesInput, ...(appends && { accumulate }) })
  }
  const compute = ARITHMETIC[operator]
  return many((value, env, emit) => right.each(value, env, (r) =>
    left.each(value, env, (l) => emit(compute(l, r, env.run, offset)))), { usesInput })
}

// Numbers are decided here, so that the common case costs no further call.
function arithmeticGet(operator: ArithmeticOperator, left: One, right: One, offset: number): One {
  switch (operator) {
    case '+': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' ? l + r : add(l, r, env.run, offset)
    }
    case '-': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' ? l - r : subtract(l, r, env.run, offset)
    }
    case '*': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' ? l * r : multiply(l, r, env.run, offset)
    }
    case '/': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' && r !== 0 ? l / r : divide(l, r, env.run, offset)
    }
    default: {
      const compute = ARITHMETIC[operator]
      return (value, env) => {
        const r = right(value, env)
        return compute(left(value, env), r, env.run, offset)
      }
    }
  }
}

/** `left == right` and its like. */
export function comparison(operator: ComparisonOperator, left: Filter, right: Filter): Filter {
  const getLeft = single(left)
  const getRight = single(right)
  const usesInput = left.usesInput || right.usesInput
  if (getLeft && getRight) return one(comparisonGet(operator, getLeft, getRight, { fixed: right.constant, name: memberName(left) }), { usesInput })
  const compute = COMPARISON[operator]
  return many((value, env, emit) => right.each(value, env, (r) => left.each(value, env, (l) => emit(compute(l, r)))), { usesInput })
}

/** What is known of the operands: the constant on the right, the member of the input on the left. */
interface Operands {
  readonly fixed: Json | undefined
  readonly name: string | undefined
}

function comparisonGet(operator: ComparisonOperator, left: One, right: One, { fixed, name }: Operands): One {
  const scalar = fixed !== undefined && (typeof fixed !== 'object' || fixed === null)
  switch (operator) {
    case '==':
      if (scalar) return (value, env) => left(value, env) === fixed
      return (value, env) => {
        const r = right(value, env)
        return equals(left(value, env), r)
      }
    case '!=':
      if (scalar) return (value, env) => left(value, env) !== fixed
      return (value, env) => {
        const r = right(value, env)
        return !equals(left(value, env), r)
      }
    default: {
      if (typeof fixed !== 'number' || Number.isNaN(fixed)) return orderGet(operator, left, right)
      const get = orderGetFixed(operator, left, fixed)
      return name === undefined ? get : orderMember(operator, name, fixed, get)
    }
  }
}

// A member that is a number is compared without a further call; everything else, failures too, is left to the general way.
function orderMember(operator: '<' | '<=' | '>' | '>=', name: string, right: number, general: One): One {
  const read = (value: Json): unknown => typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined
  switch (operator) {
    case '<': return (value, env) => {
      const l = read(value)
      return typeof l === 'number' && !Number.isNaN(l) ? l < right : general(value, env)
    }
    case '<=': return (value, env) => {
      const l = read(value)
      return typeof l === 'number' && !Number.isNaN(l) ? l <= right : general(value, env)
    }
    case '>': return (value, env) => {
      const l = read(value)
      return typeof l === 'number' ? l > right : general(value, env)
    }
    default: return (value, env) => {
      const l = read(value)
      return typeof l === 'number' ? l >= right : general(value, env)
    }
  }
}

function orderGet(operator: '<' | '<=' | '>' | '>=', left: One, right: One): One {
  const compute = COMPARISON[operator]
  switch (operator) {
    case '<': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' && !Number.isNaN(l) ? l < r : compute(l, r)
    }
    case '>': return (value, env) => {
      const r = right(value, env)
      const l = left(value, env)
      return typeof l === 'number' && typeof r === 'number' && !Number.isNaN(r) ? l > r : compute(l, r)
    }
    default: return (value, env) => {
      const r = right(value, env)
      return compute(left(value, env), r)
    }
  }
}

function orderGetFixed(operator: '<' | '<=' | '>' | '>=', left: One, right: number): One {
  const compute = COMPARISON[operator]
  switch (operator) {
    case '<': return (value, env) => {
      const l = left(value, env)
      return typeof l === 'number' && !Number.isNaN(l) ? l < right : compute(l, right)
    }
    case '<=': return (value, env) => {
      const l = left(value, env)
      return typeof l === 'number' && !Number.isNaN(l) ? l <= right : compute(l, right)
    }
    case '>': return (value, env) => {
      const l = left(value, env)
      return typeof l === 'number' ? l > right : compute(l, right)
    }
    default: return (value, env) => {
      const l = left(value, env)
      return typeof l === 'number' ? l >= right : compute(l, right)
    }
  }
}

/** `-operand`. */
export function negate(operand: Filter, offset: number): Filter {
  const compute = (value: Json): Json => {
    if (typeof value !== 'number') throw new JqError('%0 cannot be negated', [value], offset)
    return 0 - value
  }
  if (typeof operand.constant === 'number') return constant(compute(operand.constant))
  const get = single(operand)
  const { usesInput } = operand
  return get
    ? one((value, env) => compute(get(value, env)), { usesInput })
    : many((value, env, emit) => operand.each(value, env, (output) => emit(compute(output))), { usesInput })
}

/** `left and right`, `left or right`: the right operand runs only when it decides. */
export function logical(operator: 'and' | 'or', left: Filter, right: Filter): Filter {
  const decides = operator === 'or'
  const getLeft = single(left)
  const getRight = single(right)
  const usesInput = left.usesInput || right.usesInput
  if (getLeft && getRight) {
    return one(decides
      ? (value, env) => isTruthy(getLeft(value, env)) || isTruthy(getRight(value, env))
      : (value, env) => isTruthy(getLeft(value, env)) && isTruthy(getRight(value, env)), { usesInput })
  }
  return many((value, env, emit) => left.each(value, env, (l) => isTruthy(l) === decides
    ? emit(decides)
    : right.each(value, env, (r) => emit(isTruthy(r)))), { usesInput })
}

/** `left // right`: the true outputs of the left side, else the outputs of the right side. */
export function alternative(left: Filter, right: Filter): Filter {
  const { get } = left
  const getRight = right.get
  const usesInput = left.usesInput || right.usesInput
  const paths: Filter['paths'] = (path, value, env, emit) => {
    const state = { found: false }
    const stopped = left.paths(path, value, env, (at, output) => {
      if (!isTruthy(output)) return false
      state.found = true
      return emit(at, output)
    })
    return stopped || (!state.found && right.paths(path, value, env, emit))
  }
  if (get && getRight) {
    const choose = (value: Json, env: Env): Json | typeof NONE => {
      const output = get(value, env)
      return output !== NONE && output !== null && output !== false ? output : getRight(value, env)
    }
    return right.count === 'one' ? one(choose as One, { usesInput, paths }) : optional(choose, { usesInput, paths })
  }
  return many((value, env, emit) => {
    const state = { found: false }
    const stopped = left.each(value, env, (output) => {
      if (!isTruthy(output)) return false
      state.found = true
      return emit(output)
    })
    return stopped || (!state.found && right.each(value, env, emit))
  }, { usesInput, paths })
}
