/** A panel for development: what clients, their workers and their requests do. */
export { mountDevtools, TabServeDevtools, type InspectedClient } from './page/devtools/element.js';
export { deviceReport } from './page/devtools/report.js';
export type { DeviceReport, ReportedModel, ReportedTime, ReportedVerdict } from './contract/device-report.js';
