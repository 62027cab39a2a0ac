export { CATALOGUE } from './catalogue.ts'
export { isSecretKey, type DefaultContext, type SettingDefinition, type SettingSection, type SettingType } from './definition.ts'
