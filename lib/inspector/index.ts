export { createInspector, type Inspector, type InspectorOptions } from './create-inspector.ts'
export { drawOnce, type DrawOptions } from './diagram/draw.ts'
export { createRecorder, type Recorder } from './recorder.ts'
export { resolveInspectorSettings } from './settings.ts'
