/** The code that the page shows. */
export const CODE = `import { load, nearest } from 'tabserve';

const features = await load('/models/likeness/', { handler: 'image_feature_extractor' });
const photos = [...document.querySelectorAll('img')];
const vectors = await Promise.all(photos.map((photo) => features.predict(photo)));

const file = document.querySelector<HTMLInputElement>('input[type="file"]')!.files![0]!;
for (const { index, score } of nearest(await features.predict(file), vectors, 3)) console.log(photos[index], score);
await features.dispose();
`;
