import { load } from 'tabserve';

const digits = await load('/models/digits/', { handler: 'image_classifier' });
const photo = await digits.keep(document.querySelector('img')!);
for (const topK of [1, 3]) {
  const classes = await digits.predict(photo, { params: { topK } });
  console.log(classes.map(({ label }) => label)); // ['three'], then two more
}
photo.release();
