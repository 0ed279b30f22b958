import { answerPredictions } from 'tabserve/service-worker';

answerPredictions({ models: { digits: 'device-first' } });
