// The names are TorchServe's: docs/configuration.md there, "TS_" and a key of config.properties in capitals.
import { expect, test } from '@playwright/test';
import { readEnvironment } from '../../../../src/tools/cli/serve-environment.ts';

test('TorchServe’s variables become flags and archives; others of its kind are named', () => {
  expect(
    readEnvironment({
      PATH: '/bin',
      TS_INFERENCE_ADDRESS: 'http://0.0.0.0:8085',
      TS_MODEL_STORE: '/models',
      TS_LOAD_MODELS: 'a.mar, b=c.mar',
      TS_CORS_ALLOWED_ORIGIN: '*',
      TS_MAX_REQUEST_SIZE: '100',
      TS_MAX_RESPONSE_SIZE: '200',
      TS_DEFAULT_WORKERS_PER_MODEL: '3',
      TS_DEFAULT_RESPONSE_TIMEOUT: '60',
      TS_DISABLE_TOKEN_AUTHORIZATION: 'false',
      TS_TOKEN_EXPIRATION_MIN: '5',
      TS_JOB_QUEUE_SIZE: '7',
    }),
  ).toEqual({
    flags: {
      host: '0.0.0.0',
      port: '8085',
      'model-store': '/models',
      cors: ['*'],
      'max-request-size': '100',
      'max-response-size': '200',
      workers: '3',
      timeout: '60',
      'token-auth': true,
      'token-expiration-min': '5',
    },
    archives: ['a.mar', 'b=c.mar'],
    unknown: ['TS_JOB_QUEUE_SIZE'],
  });
  expect(readEnvironment({ TS_LOAD_MODELS: 'ALL', TS_DISABLE_TOKEN_AUTHORIZATION: 'true' })).toEqual({
    flags: {},
    archives: ['all'],
    unknown: [],
  });
  expect(readEnvironment({ TS_INFERENCE_ADDRESS: 'http://[::1]' }).flags).toEqual({ host: '::1', port: '80' });
});

test('an address with TLS, or none, is refused with what to do', () => {
  for (const address of ['https://127.0.0.1:8443', '127.0.0.1:8080', ''])
    expect(() => readEnvironment({ TS_INFERENCE_ADDRESS: address })).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining('reverse proxy') }),
    );
});
