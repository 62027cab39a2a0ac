export { drawOnce, type DrawOptions } from './diagram/draw.ts'
