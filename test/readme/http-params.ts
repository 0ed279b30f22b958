declare const photo: Blob;

const params = encodeURIComponent(JSON.stringify({ labels: ['a cat', 'a dog'] }));
const response = await fetch(`/predictions/clip?params=${params}`, { method: 'POST', body: photo });
console.log(await response.json());
