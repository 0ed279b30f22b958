import { connect } from 'tabserve';
import type { HousePrice } from './house.worker.js';

const prices = connect<HousePrice>(
  () => new Worker(new URL('./house.worker.ts', import.meta.url), { type: 'module' }),
  {
    model: '/models/house/',
  },
);
await prices.initialize();
const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob(); // or a File of an <input>
console.log(await prices.predict({ photo, rooms: 3, area: 80 })); // 360
await prices.dispose();
