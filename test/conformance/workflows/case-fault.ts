/** Something in a case that the runner cannot do or does not know: its message is the reason of the failure. */
export class CaseFault extends Error {}
