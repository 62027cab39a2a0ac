export { CATALOGUE } from './catalogue.ts'
export { isSecretKey, type DefaultContext, type SettingDefinition } from './definition.ts'
