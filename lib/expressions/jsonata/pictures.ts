import { ProgramFailure } from '../language.ts'

// The library works through pictures in quadratic time, and makes as many digits as they ask for.
const LONGEST_PICTURE = 1000
const WIDEST_NUMBER = 1000

/** A part of a picture of a time: a text, or a marker such as `[M01]`. */
interface Part {
  readonly literal?: string
  readonly marker?: string
}

/**
 * Checks the picture of a number.
 *
 * @throws {@link ProgramFailure} when it is too long.
 */
export function checkPicture(picture: unknown): void {
  if (typeof picture === 'string' && picture.length > LONGEST_PICTURE) {
    throw new ProgramFailure('failed', `a picture has at most ${LONGEST_PICTURE} characters`)
  }
}

/**
 * Checks the picture of a time.
 *
 * @throws {@link ProgramFailure} when it is too long, or asks for more digits than anybody reads.
 */
export function checkDatePicture(picture: unknown): void {
  checkPicture(picture)
  if (typeof picture !== 'string') return
  for (const { marker = '' } of partsOf(picture)) {
    for (const [width] of marker.slice(marker.lastIndexOf(',') + 1).matchAll(/\d+/g)) {
      if (marker.includes(',') && Number(width) > WIDEST_NUMBER) throw new ProgramFailure('failed', `[${marker}] asks for more than ${WIDEST_NUMBER} characters`)
    }
  }
}

/**
 * Checks that a text can be read with a picture in few steps.
 *
 * The library makes a regular expression of the picture and runs it on the platform's engine. Parts of open width side by side,
 * such as `[Y][f]`, can share the characters of the text in as many ways as the text is long, each pair of them.
 *
 * @throws {@link ProgramFailure} of the kind `limit` when there may be too many ways.
 */
export function checkTimestamp(text: unknown, picture: unknown, maxSteps: number): void {
  if (typeof text !== 'string' || typeof picture !== 'string') return
  const parts = partsOf(picture)
  const open = parts.filter((part, nth) => isOpen(part, parts[nth + 1])).length
  if ((text.length + 1) ** (open + 1) * parts.length <= maxSteps) return
  throw new ProgramFailure('limit', 'max-steps: the text is too long for this picture; write something between its parts, such as [Y]-[M]')
}

function partsOf(picture: string): readonly Part[] {
  const texts = picture.match(/\[\[|\[[^\]]*\]?|[^[]+/g) ?? []
  return texts.map((text) => text === '[[' || !text.startsWith('[') ? { literal: text } : { marker: text.slice(1, -1).replaceAll(/\s/g, '') })
}

type Kind = 'digits' | 'letters' | 'words' | 'zone'

/** Tells whether a part may end at several places: what follows may begin with a character of its own. */
function isOpen(part: Part, next: Part | undefined): boolean {
  if (part.marker === undefined || next === undefined) return false
  const kind = kindOf(part.marker)
  if (next.literal !== undefined) return (kind === 'letters' ? /^[a-z]/i : kind === 'words' ? /^[a-z\-, ]/i : /^\d/).test(next.literal)
  const following = kindOf(next.marker ?? '')
  // The library gives numbers before numbers the width that they are written with; fractions and zones have none.
  if (kind === 'digits') return following === 'digits' && part.marker.startsWith('f')
  if (kind === 'zone') return following === 'digits'
  return following !== 'digits'
}

function kindOf(marker: string): Kind {
  const component = marker.charAt(0)
  const presentation = marker.slice(1).split(',')[0] ?? ''
  if (component === 'Z' || component === 'z') return 'zone'
  if (component === 'f') return 'digits'
  if (/^w/i.test(presentation)) return 'words'
  return /\p{Nd}/u.test(presentation) || (presentation.length <= 1 && !/^[FPCE]/.test(component) && !/[nai]/i.test(presentation)) ? 'digits' : 'letters'
}
