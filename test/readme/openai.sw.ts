import { answerPredictions } from 'tabserve/service-worker';

answerPredictions({
  models: { writer: 'device-only' },
});
